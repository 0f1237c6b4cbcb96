"""Ground: the pure data of the house, standard library only (**wire**)."""
