"""One folder per device, each with all that is special to it."""
