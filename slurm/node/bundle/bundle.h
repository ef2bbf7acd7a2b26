// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a bundle as a stream, and verifies its contents. */
#ifndef KADENCE_NODE_BUNDLE_H
#define KADENCE_NODE_BUNDLE_H

#include <string>
#include <vector>

#include "base/file.h"
#include "verify/key_ring.h"
#include "bundle/manifest.h"
#include "site/site.h"

namespace kadence
{

/* Opens a bundle for reading. Refuses anything but a regular file, and a file that is too large. */
descriptor open_bundle(const std::string &path, const site &rules);

/* No folder: unpack() verifies everything and writes nothing. */
const int nowhere = -1;

/*
 * Reads the archive from the descriptor `source` to its end. Verifies the signature, names, sizes,
 * checksums, and that this machine can use the bundle. Writes its files below the folder `target`
 * (a descriptor, or nowhere), and returns the text of its manifest. Refuses a bundle that breaks
 * the site's rules; the caller then removes the files written so far.
 */
std::string unpack(int source, int target, const site &rules, const std::vector<public_key> &ring);

} // namespace kadence

#endif
