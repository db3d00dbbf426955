"""What a lost write left torn, found and mended while checks go on: docs/repair.md."""
