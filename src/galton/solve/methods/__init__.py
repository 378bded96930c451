"""The methods that can be chosen by name, one file each."""
