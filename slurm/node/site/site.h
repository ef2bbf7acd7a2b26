// SPDX-License-Identifier: GPL-2.0-or-later
/* The administrator's file, /etc/kadence/site.toml; docs/slurm.md describes every key. */
#ifndef KADENCE_NODE_SITE_H
#define KADENCE_NODE_SITE_H

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kadence
{

struct site {
	std::filesystem::path file = "/etc/kadence/site.toml";
	std::vector<std::string> targets = {"um"};
	std::vector<std::string> users = {"*"};
	std::filesystem::path key_ring = "/etc/kadence/keys";
	bool signatures_required = true;
	bool mitigations_off = false;
	std::filesystem::path spool = "/var/spool/kadence"; /* %n is the node's name */
	std::filesystem::path records = "/var/lib/kadence/records";
	std::filesystem::path store = "/var/lib/kadence/site";
	std::filesystem::path site_key = "/etc/kadence/site.pub";
	std::filesystem::path metrics; /* for node_exporter, %n likewise; empty: none */
	uint64_t largest_bundle = UINT64_C(64) << 20;	 /* bytes */
	uint64_t largest_unpacked = UINT64_C(256) << 20; /* bytes */
	uint64_t largest_store = UINT64_C(1024) << 20;	 /* bytes */
	uint64_t largest_quantum_ns = UINT64_C(5000000000);
	uint64_t prepare_seconds = 20;
	uint64_t boot_seconds = 30;

	std::filesystem::path jobs() const
	{
		return spool / "jobs";
	}
	std::filesystem::path bundles() const
	{
		return spool / "store";
	}
	bool allows_target(const std::string &target) const;
	bool allows_user(const std::string &user) const;
};

/*
 * Reads the file; a missing one gives the defaults, any mistake in it is a refusal that names key
 * and line. `node` takes the place of %n in paths.
 */
site read_site(const std::filesystem::path &file, const std::string &node);

/* The rules as JSON, with the file's keys and units. */
std::string describe_site(const site &rules);

} // namespace kadence

#endif
