# The target by whose name coz links LIEF: see LIEF/LIEF.hpp.
add_library(LIEF::LIEF INTERFACE IMPORTED)
set_target_properties(LIEF::LIEF PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}")
