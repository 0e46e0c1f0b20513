# nginx isn't running.
class site::stopped {
  $dir = $facts['muster']['state']

  exec { 'stop the site':
    command => "/usr/sbin/nginx -c ${dir}/nginx.conf -s stop",
    onlyif  => "/bin/sh -c 'test -s ${dir}/pid && kill -0 $(cat ${dir}/pid)'",
  }
}
