# Made by Muster. It does its work once, and says at each start that it is done.
set -u
root=${MUSTER_ROOT:-}
stamp=$root/var/lib/muster/first-start

host_key() {
	[ -n "$KEY_FILE" ] || return 0
	# No others are created, now or when the machine is copied: neither Google's agent nor cloud-init.
	local agent=$root/etc/default/instance_configs.cfg
	if grep -q '^ *set_host_keys' "$agent" 2>/dev/null; then
		sed -i 's/^ *set_host_keys.*/set_host_keys = false/' "$agent"
	elif grep -q '^\[InstanceSetup\]' "$agent" 2>/dev/null; then
		sed -i 's/^\[InstanceSetup\].*/&\nset_host_keys = false/' "$agent"
	else
		mkdir -p "$root/etc/default"
		printf '[InstanceSetup]\nset_host_keys = false\n' >>"$agent"
	fi
	if [ -d "$root/etc/cloud/cloud.cfg.d" ]; then
		printf 'ssh_deletekeys: false\nssh_genkeytypes: []\npreserve_hostname: true\n' >"$root/etc/cloud/cloud.cfg.d/99-muster.cfg"
	fi
	local file=$root/etc/ssh/$KEY_FILE
	(umask 077 && printf '%s' "$KEY_PRIVATE" | base64 -d >"$file.new") || return 1
	rm -f "$root"/etc/ssh/ssh_host_*_key "$root"/etc/ssh/ssh_host_*_key.pub
	mv "$file.new" "$file"
	printf '%s\n' "$KEY_PUBLIC" >"$file.pub"
	chmod 600 "$file" && chmod 644 "$file.pub"
}

let_in() {
	id "$SSH_USER" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$SSH_USER" || return 1
	local home
	home=$root$(getent passwd "$SSH_USER" | cut -d: -f6)
	mkdir -p "$home/.ssh"
	grep -qxF "$AUTHORIZED" "$home/.ssh/authorized_keys" 2>/dev/null || printf '%s\n' "$AUTHORIZED" >>"$home/.ssh/authorized_keys"
	chmod 700 "$home/.ssh" && chmod 600 "$home/.ssh/authorized_keys" || return 1
	chown -R "$SSH_USER:" "$home/.ssh" || return 1
	local rules='PasswordAuthentication no'
	if [ "$SSH_USER" = root ]; then
		rules=$rules$'\nPermitRootLogin prohibit-password'
	else
		printf '%s ALL=(ALL) NOPASSWD:ALL\n' "$SSH_USER" >"$root/etc/sudoers.d/90-muster" && chmod 440 "$root/etc/sudoers.d/90-muster" || return 1
	fi
	# Of several lines the first one counts, so ours stand before what the image says.
	if grep -qi '^ *include .*/etc/ssh/sshd_config\.d/' "$root/etc/ssh/sshd_config"; then
		mkdir -p "$root/etc/ssh/sshd_config.d"
		printf '%s\n' "$rules" >"$root/etc/ssh/sshd_config.d/00-muster.conf"
	elif ! grep -q '^# muster' "$root/etc/ssh/sshd_config"; then
		{ printf '# muster\n%s\n' "$rules"; cat "$root/etc/ssh/sshd_config"; } >"$root/etc/ssh/sshd_config.new" || return 1
		cat "$root/etc/ssh/sshd_config.new" >"$root/etc/ssh/sshd_config" && rm "$root/etc/ssh/sshd_config.new"
	fi
}

host_name() {
	hostnamectl set-hostname "$SHORT" || hostname "$SHORT"
	grep -qwF "$FULL" "$root/etc/hosts" 2>/dev/null || printf '127.0.1.1 %s %s\n' "$FULL" "$SHORT" >>"$root/etc/hosts"
}

disks() {
	[ -n "$DISKS" ] || return 0
	mkdir -p "$root/usr/local/sbin"
	printf '%s' "$DISKS" | base64 -d >"$root/usr/local/sbin/muster-data-disks" && sh "$root/usr/local/sbin/muster-data-disks"
}

# People's own script, once: whatever becomes of it, the machine has started.
custom() {
	[ -n "$CUSTOM" ] && [ "$(cat "$stamp-custom" 2>/dev/null)" != "$MARK" ] || return 0
	printf '%s\n' "$MARK" >"$stamp-custom"
	local file=${stamp%/*}/user-data
	(umask 077 && printf '%s' "$CUSTOM" | base64 -d >"$file") && chmod 700 "$file" && "$file" || echo 'muster: the user data failed' >&2
}

restart_ssh() {
	systemctl restart ssh 2>/dev/null || systemctl restart sshd 2>/dev/null || service ssh restart || service sshd restart
}

if [ "$(cat "$stamp" 2>/dev/null)" != "$MARK" ]; then
	host_key && let_in && host_name && disks && restart_ssh || { echo 'muster: the first start failed' >&2; exit 1; }
	mkdir -p "${stamp%/*}" && printf '%s\n' "$MARK" >"$stamp"
fi
say_started
said=$?
custom
exit $said
