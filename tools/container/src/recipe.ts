/** Contents of the image, beside the bundle. A name that apt does not know fails the build. */

export const variants = ['plain', 'dhcp'] as const;
/** `dhcp` has dnsmasq in addition, and the shell that runs it. */
export type Variant = (typeof variants)[number];

/** Debian packages with files in the image. They are not installed, and their scripts do not run. */
export const packages: Readonly<Record<Variant, readonly string[]>> = {
  plain: [
    // Has the copyright file of its libraries.
    'gcc-12-base',
    'ipxe',
    'libatomic1',
    'libc6',
    'libgcc-s1',
    'libstdc++6',
  ],
  dhcp: [
    'dash',
    'dnsmasq-base',
    'libcap2',
    'libdbus-1-3',
    'libgcrypt20',
    'libgmp10',
    'libgpg-error0',
    'libhogweed6',
    'libidn2-0',
    'libjansson4',
    'liblz4-1',
    'liblzma5',
    'libmnl0',
    'libnetfilter-conntrack3',
    'libnettle8',
    'libnfnetlink0',
    'libnftables1',
    'libnftnl11',
    'libsystemd0',
    'libunistring2',
    'libxtables12',
    'libzstd1',
  ],
};

/** Programs in the packages; their libraries are found by themselves. */
export const programs: Readonly<Record<Variant, readonly string[]>> = {
  plain: [],
  dhcp: ['bin/dash', 'usr/sbin/dnsmasq'],
};

export const otherFiles: Readonly<Record<Variant, readonly string[]>> = {
  plain: ['usr/lib/ipxe/ipxe.efi', 'usr/lib/ipxe/snponly.efi', 'usr/lib/ipxe/undionly.kpxe'],
  dhcp: [],
};

/** The loader that the kernel starts programs with. */
export const loader = { path: 'lib64/ld-linux-x86-64.so.2', target: '/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2' };

/** dnsmasq is started by a script and runs one for each lease. */
export const shell = { path: 'bin/sh', target: 'dash' };

export const directories: Readonly<Record<string, number>> = {
  'etc/metal-operator': 0o755,
  proc: 0o755,
  dev: 0o755,
  sys: 0o755,
  run: 0o755,
  tmp: 0o1777,
  'var/lib/metal-operator': 0o755,
  'var/run/secrets/kubernetes.io/serviceaccount': 0o755,
};

export const texts: Readonly<Record<string, string>> = {
  'etc/passwd': [
    'root:x:0:0:root:/:/sbin/nologin',
    'nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin',
    'nonroot:x:65532:65532:nonroot:/nonexistent:/sbin/nologin',
    '',
  ].join('\n'),
  'etc/group': ['root:x:0:', 'dip:x:30:', 'nogroup:x:65534:', 'nonroot:x:65532:', ''].join('\n'),
  'etc/nsswitch.conf': 'hosts: files dns\n',
};

/**
 * What the operator needs to run dnsmasq: three for dnsmasq itself, two because it gives up root, and one because the operator
 * signals it afterwards.
 */
export const dhcpCapabilities = [
  'CAP_NET_ADMIN',
  'CAP_NET_RAW',
  'CAP_NET_BIND_SERVICE',
  'CAP_SETUID',
  'CAP_SETGID',
  'CAP_KILL',
] as const;

export const placeOfBundle = 'opt/metal-operator';
export const user = { uid: 65_532, gid: 65_532 };
/** TCP and UDP ports by default, for information. */
export const ports: Readonly<Record<Variant, readonly string[]>> = {
  plain: ['8080/tcp', '8081/tcp', '8082/tcp', '10000/tcp', '10001/tcp', '10002/tcp'],
  dhcp: ['67/udp', '69/udp'],
};
