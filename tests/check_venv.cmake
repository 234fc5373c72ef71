execute_process(COMMAND ${PYTHON} -m pytest --version RESULT_VARIABLE STATUS OUTPUT_QUIET ERROR_QUIET)
if(NOT STATUS EQUAL 0)
  message(FATAL_ERROR "${PYTHON} has no pytest: run `deploy/setup.sh test`, which makes build/venv from tests/requirements.txt")
endif()
