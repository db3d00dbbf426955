"""The pure core of de-duplication: shingles, similarity, signatures, bands and verdicts."""
