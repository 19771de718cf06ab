"""What a person sees and drags: mannequin, pictures, viewer."""
