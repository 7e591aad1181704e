"""Graph folders at an address (s3://, http://, … through fsspec): brought to this disk once, then mapped as any."""
