"""The projected solver's experiment: data, baselines, peers, figures."""
