# Process 1 of a machine: an OpenSSH server with the machine's own name, processes and files (the host's, as they are, below its own changes).
# It's started in new namespaces of mounts, processes and names. $1 is the machine's directory, $2 its name.
set -e
dir=$1 name=$2
mkdir -p "$dir/upper" "$dir/work" "$dir/root"
mount -t overlay -o "lowerdir=/,upperdir=$dir/upper,workdir=$dir/work" overlay "$dir/root"
cd "$dir/root"
mount -t proc proc proc
mount --rbind /dev dev
mount -t tmpfs tmpfs run
mkdir -p run/sshd run/machine tmp
cp "$dir"/files/* run/machine/
chmod 600 run/machine/*
hostname "$name"
echo "$name" >etc/hostname
cd /
exec chroot "$dir/root" /usr/sbin/sshd -D -e -f /run/machine/sshd_config </dev/null
