"""The primitives that methods are made of, once per device."""
