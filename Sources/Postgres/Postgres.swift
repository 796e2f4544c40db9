// The owner of a libpq connection on a thread of its own.
