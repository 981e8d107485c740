if(xgboost_test_TESTS)
  set_tests_properties(${xgboost_test_TESTS} PROPERTIES ENVIRONMENT "OMP_NUM_THREADS=1;OMP_WAIT_POLICY=passive")
endif()
