"""Disks that fail, for tests of whatever is saved."""

import errno
import os

from linsep.data.files import disk


class Failing(disk.Disk):
    """A disk whose n-th operation fails, once or from then on."""

    def __init__(self, fail_at, error=errno.EIO, lasting=False):
        self.count, self.fail_at, self.error, self.lasting = 0, fail_at, error, lasting
        self.done = []

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        if name.startswith("_") or not callable(found):
            return found

        def operation(*arguments):
            self.count += 1
            self.done.append(name)
            if self.count == self.fail_at or (self.lasting and self.count > self.fail_at):
                if name == "close":  # a close that fails has closed all the same
                    found(*arguments)
                raise OSError(self.error, os.strerror(self.error))
            return found(*arguments)

        return operation


class Short(disk.Disk):
    """A disk whose every write takes a few bytes only."""

    def write(self, file, data):
        return super().write(file, data[:977])
