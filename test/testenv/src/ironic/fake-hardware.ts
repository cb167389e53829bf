import { type ParseNodeAddress, parseNodeAddress } from '@metal/metal3/ironic/node/node-address.ts';

/**
 * Addresses `fake://name`: the hardware type of Ironic without any hardware, whose operations succeed. `fake+no-raid://name` has no RAID
 * interface, `fake+pxe://name` needs a ramdisk by DHCP, and with `fake+ipxe://name` Ironic prepares one.
 */
export const withFakeHardware: ParseNodeAddress = (text) => {
  const [, variant = '', host = ''] = /^fake(?:\+([a-z-]+))?:\/\/(.+)$/.exec(text) ?? [];
  if (host === '') return parseNodeAddress(text);
  const isPxe = variant === 'pxe';
  return {
    address: {
      host,
      key: 'fake_address',
      driver: {
        driver: 'fake-hardware',
        interfaces: {
          boot: variant === 'ipxe' ? 'ipxe' : 'fake',
          raid: variant === 'no-raid' ? 'no-raid' : 'fake',
          bios: 'fake',
          firmware: 'fake',
        },
        fastInspect: 'fake',
        hasSecureBoot: true,
        bootsIso: !isPxe,
        needsProvisioningNetwork: isPxe,
        needsMac: false,
      },
      infoOf: ({ username, password }) => ({
        fake_address: host,
        fake_username: username,
        fake_password: password.reveal(),
      }),
    },
  };
};
