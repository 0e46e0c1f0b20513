# nginx is running, and reloads its configuration when it has changed.
class site::running {
  $dir = $site::dir

  service { 'site':
    ensure    => running,
    provider  => base,
    hasstatus => true,
    start     => "/usr/sbin/nginx -c ${dir}/nginx.conf",
    stop      => "/usr/sbin/nginx -c ${dir}/nginx.conf -s stop",
    restart   => "/usr/sbin/nginx -c ${dir}/nginx.conf -s reload",
    status    => "/bin/sh -c 'test -s ${dir}/pid && kill -0 $(cat ${dir}/pid)'",
    subscribe => File["${dir}/nginx.conf"],
  }
}
