"""Statistics: arrays in, frozen results out. numpy and scipy live here and nowhere else.

`stats.results` holds the results and imports neither, so that what stands above can name them for free.
"""
