"""The rules, by module name, in the order they are listed in. Add a line to add a rule."""

RULES = (
    "auto_mapping_order",
    "copied_code",
    "dependency_table",
    "doc_toc",
    "doctest_list",
    "dummy_objects",
    "import_direction",
    "init_order",
    "lazy_inits",
)
