# A web site with one page, served by nginx. Parameters come from the cluster's configuration: site: {heading: …} is site::heading.
class site (
  String  $heading,
  String  $key,
  Integer $port    = 8080,
  String  $address = lookup('self.address'),
) {
  $dir = $facts['muster']['state']

  file { ["${dir}/html"]: ensure => directory }
  file { "${dir}/html/index.html":
    content => "${heading} from ${facts['muster']['node']}\n",
  }
  file { "${dir}/key":
    content => Sensitive($key),
    mode    => '0600',
  }
  file { "${dir}/nginx.conf":
    content => epp('site/nginx.conf.epp', { 'dir' => $dir, 'address' => $address, 'port' => $port }),
  }

  # Available to later steps as %fact.site.url%.
  file { $facts['muster']['outputs']:
    content => "url=http://${address}:${port}/\n",
  }
}
