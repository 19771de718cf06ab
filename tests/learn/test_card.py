from mimik.learn.card import write_card


def test_card_holds_contract_figures_and_commands(tmp_path):
    contract = {
        "name": "ikgat", "inputs": {"positions": "metres"}, "outputs": {"sixd": "two columns"}, "roles": ["pelvis"],
        "metrics": {"test MPJAE, degrees": 7.4321, "frames": 58247, "by joint": {"head": 17.123}},
        "data": {"hash": "abc"}, "details": {"train": {"batch": 512}}, "commit": "123", "weights": "456",
    }  # fmt: skip
    write_card(contract, tmp_path / "card.md", commands=("mimik train ikgat",))
    text = (tmp_path / "card.md").read_text()
    for part in ("# IK-GAT", "7.43 |", "58,247", "head 17.12", "hash: abc", "commit: 123", "mimik train ikgat", "512"):
        assert part in text
