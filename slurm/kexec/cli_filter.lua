-- SPDX-License-Identifier: GPL-2.0-or-later
-- Slurm's cli_filter, beside slurm.conf: a job with --kadence-target=kexec asks for nodes that boot
-- the kernel that its bundle wants, and has them to itself. It is a help to users and grants
-- nothing: what a node boots is decided by the site's store, and whether a job's bundle may use it
-- by the node's prolog.

local tool = os.getenv("KADENCE_NODE") or "kadence-node"
local site = os.getenv("KADENCE_SITE") or "/etc/kadence/site.toml"

local function quoted(word)
	return "'" .. word:gsub("'", "'\\''") .. "'"
end

-- The name of the kernel that the bundle wants, or nil; the plugin tells what is wrong with it.
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

	-- A step's nodes are its job's.
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
