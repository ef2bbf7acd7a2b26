-- SPDX-License-Identifier: GPL-2.0-or-later
-- Slurm's cli_filter, beside slurm.conf: a job with --kadence-target=kexec gets nodes to itself,
-- which boot the kernel that its bundle wants. The filter only helps users and grants nothing: the
-- site's store decides what a node boots, and the node's prolog decides whether the job's bundle
-- may use that kernel.

local tool = os.getenv("KADENCE_NODE") or "kadence-node"
local site = os.getenv("KADENCE_SITE") or "/etc/kadence/site.toml"

local function quoted(word)
	return "'" .. word:gsub("'", "'\\''") .. "'"
end

-- The name of the kernel that the bundle wants, or nil. The plugin reports what is wrong.
local function kernel_of(bundle)
	local words = { quoted(tool), "--site", quoted(site), "kernel-of", quoted(bundle) }
	local pipe = io.popen(table.concat(words, " ") .. " 2>/dev/null")
	local name = pipe and pipe:read("*l")

	if pipe then
		pipe:close()
	end
	return name and name:match("^%x+$")
end

function slurm_cli_setup_defaults(options, early_pass)
	return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, offset)
	local ours = options.spank and options.spank.kadence

	-- A step runs on its job's nodes.
	if not ours or os.getenv("SLURM_JOB_ID") or ours["kadence-target"] ~= "kexec" then
		return slurm.SUCCESS
	end
	local name = ours.kadence and kernel_of(ours.kadence)
	if name then
		local feature = "kadence_" .. name
		local others = options.constraint
		options.constraint = others and others ~= "" and others .. "&" .. feature or feature
		options.exclusive = "exclusive"
	end
	return slurm.SUCCESS
end

function slurm_cli_post_submit(offset, job, step)
	return slurm.SUCCESS
end
