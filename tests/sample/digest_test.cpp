// The samplers' results are the same bits on every platform: compared with a recorded run.
#include "sample/digest.hpp"

#include <doctest/doctest.h>

TEST_CASE("sampling: ids, probabilities, exp and log are the recorded bits") {
  CHECK(jig_test::digest() ==
        "math 61eb1c8baa054c29\n"
        "defaults 3489d5390162093e 918 1649 1725 1227 2541 2418 908 2389\n"
        "reversed 51fe9c1758530f62 2141 967 1899 2638 2750 93 454 2469\n"
        "wide 71747ab9606dcdbe 2791 2840 998 2688 2282 531 1288 864\n"
        "sigma 4d6defe5952677c4 1507 1586 2435 1538 2910 308 677 324\n"
        "all 3fa3884e57f5b1cd 1507 1616 2435 1553 2893 308 687 357\n");
}
