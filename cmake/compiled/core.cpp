// The part of jig::compiled that every program shares: the error table and its sentences.

#include "jig/core/message.hpp"
#include "jig/core/result.hpp"
