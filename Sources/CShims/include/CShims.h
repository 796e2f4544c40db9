#ifndef LANEKEEPER_CSHIMS_H
#define LANEKEEPER_CSHIMS_H
// What Swift cannot import: variadic functions, function-like macros, GNU-only calls. Each with its reason.
#endif
