"""Time bounds of stiff CTMCs: windows of time that are proposed by solving equations, and proved."""
