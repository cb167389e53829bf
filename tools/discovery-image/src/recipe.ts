/** Contents of the image. An unknown name fails the build. */

/** Meta package of the current kernel. */
export const kernelMetaPackage = 'linux-image-amd64';

/** Packages with the files of the image. They are not installed, and their scripts do not run. */
export const packages: readonly string[] = [
  'busybox-static',
  'ethtool',
  'hdparm',
  'lldpd',
  'nvme-cli',
  'pci.ids',
  'smartmontools',
  'systemd-boot-efi',
  'util-linux',
  // Libraries of the programs above and of Node. The build reports a missing one.
  'libatomic1',
  'libblkid1',
  'libbsd0',
  'libc6',
  'libcap2',
  'libcrypt1',
  'libdbus-1-3',
  'libevent-2.1-7',
  'libgssapi-krb5-2',
  'libkrb5-3',
  'libk5crypto3',
  'libcom-err2',
  'libkrb5support0',
  'libkeyutils1',
  'libgcc-s1',
  'libgcrypt20',
  'libicu72',
  'libgpg-error0',
  'libjson-c5',
  'liblz4-1',
  'liblzma5',
  'libmd0',
  'libmnl0',
  'libnsl2',
  'libnvme1',
  'libpci3',
  'libpcre2-8-0',
  'libperl5.36',
  'libreadline8',
  'libselinux1',
  'libsensors5',
  'libsnmp40',
  'libssl3',
  'libstdc++6',
  'libtinfo6',
  'libsystemd0',
  'libtirpc3',
  'libudev1',
  'libwrap0',
  'libxml2',
  'libzstd1',
  'zlib1g',
];

/** Path in the image, and path in the package. */
export const programs: Readonly<Record<string, string>> = {
  'sbin/blkdiscard': 'sbin/blkdiscard',
  'sbin/ethtool': 'sbin/ethtool',
  'sbin/hdparm': 'sbin/hdparm',
  'sbin/lldpd': 'usr/sbin/lldpd',
  'usr/sbin/lldpcli': 'usr/sbin/lldpcli',
  'sbin/nvme': 'usr/sbin/nvme',
  'sbin/smartctl': 'usr/sbin/smartctl',
};

export const otherFiles: Readonly<Record<string, string>> = {
  'usr/share/misc/pci.ids': 'usr/share/misc/pci.ids',
};

/**
 * Libraries that are replaced by an empty one with one symbol, as ICU itself does in a build without data: lldpcli links ICU for
 * its XML output, so every machine would unpack 31 MB of unused data.
 */
export const emptyLibraries: Readonly<Record<string, string>> = { 'libicudata.so.72': 'icudt72_dat' };

/** Additional names of programs in the image. */
export const links: Readonly<Record<string, string>> = {
  'bin/lldpctl': '/usr/sbin/lldpcli',
  'sbin/lldpcli': '/usr/sbin/lldpcli',
  // The kernel loads modules by this name.
  'sbin/modprobe': '/bin/busybox',
  'var/run': '/run',
};

/** Applets of busybox that the scripts use. */
export const applets =
  'acpid cat echo find grep hostname ip mkdir mount poweroff sh sleep sort sync tee udhcpc xargs'.split(' ');

export const emptyDirectories = ['dev', 'proc', 'run', 'sys', 'tmp', 'var/log'];

/** Drivers, to be extended by their dependencies. Cards that require firmware files do not work: the image has none. */
export const modules: Readonly<Record<string, string>> = {
  'virtual machines':
    'virtio_pci virtio_net virtio_blk virtio_scsi virtio_rng vmxnet3 vmw_pvscsi hv_netvsc hv_storvsc ena',
  disks: 'nvme ahci ata_piix sd_mod sg vmd',
  'storage controllers': 'megaraid_sas mpt3sas mpi3mr hpsa smartpqi aacraid isci',
  'network cards, Intel': 'e1000 e1000e igb igc ixgbe i40e iavf ice',
  'network cards, others': 'atlantic be2net bnxt_en enic mlx4_en mlx5_core r8169 sfc tg3 8139cp',
  'physical layers of network cards': 'broadcom realtek',
  'power button and firmware': 'button evdev efivarfs',
};

/** Command line of the unified kernel image, which firmware starts without one. */
export const commandLine = 'console=tty0 console=ttyS0,115200 panic=60';
