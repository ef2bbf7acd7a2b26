// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a bundle as it comes, verifying each byte before anything is made of it. */
#ifndef KADENCE_NODE_BUNDLE_H
#define KADENCE_NODE_BUNDLE_H

#include <string>
#include <vector>

#include "file.h"
#include "key_ring.h"
#include "manifest.h"
#include "site.h"

namespace kadence
{

/* Opens a bundle for reading: a regular file that is not too large, else a refusal. */
descriptor open_bundle(const std::string &path, const site &rules);

/* No folder: everything is verified and nothing written. */
const int nowhere = -1;

/*
 * Reads the archive from the descriptor `source` to its end, verifies signature, names, sizes,
 * checksums and that this machine can use it, writes its files below the folder `target` (a
 * descriptor, or nowhere), and returns the text of its manifest. What does not fit the site's rules
 * is a refusal; what was written by then is for the caller to remove.
 */
std::string unpack(int source, int target, const site &rules, const std::vector<public_key> &ring);

} // namespace kadence

#endif
