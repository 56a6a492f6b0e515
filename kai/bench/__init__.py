"""``kai bench``: what kai costs, each figure beside a baseline that is measured in the same run."""
