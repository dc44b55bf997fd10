# What `cmake --install` and CPack lay down: program, library, headers, schemas, shell
# completions and the man page; the last two are written by the program itself.
include(CMakePackageConfigHelpers)

set(written ${CMAKE_CURRENT_BINARY_DIR}/written)
add_custom_command(
  OUTPUT ${written}/gpuadvisor.1
  COMMAND ${CMAKE_COMMAND} -E make_directory ${written}
  COMMAND gpuadvisor completion bash > ${written}/gpuadvisor.bash
  COMMAND gpuadvisor completion zsh > ${written}/_gpuadvisor
  COMMAND gpuadvisor completion fish > ${written}/gpuadvisor.fish
  COMMAND gpuadvisor completion man > ${written}/gpuadvisor.1
  DEPENDS gpuadvisor
  VERBATIM)
add_custom_target(gpuadvisor_written ALL DEPENDS ${written}/gpuadvisor.1)

install(TARGETS gpuadvisor RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS gpuadvisor_core EXPORT gpuadvisor-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/gpuadvisor DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/data/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/gpuadvisor)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/data/SOURCES.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${written}/gpuadvisor.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${written}/gpuadvisor.bash RENAME gpuadvisor
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${written}/_gpuadvisor DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${written}/gpuadvisor.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gpuadvisor)
install(EXPORT gpuadvisor-targets NAMESPACE gpuadvisor:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gpuadvisor-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/gpuadvisor-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/gpuadvisor-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/gpuadvisor-config.cmake
        ${CMAKE_CURRENT_BINARY_DIR}/gpuadvisor-config-version.cmake DESTINATION ${package_dir})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "gpuadvisor maintainers")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
include(CPack)
