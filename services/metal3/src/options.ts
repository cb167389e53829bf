import {
  boolean,
  duration,
  integer,
  oneOf,
  type Option,
  optionalText,
  type OptionTexts,
  parseOptions,
  url,
} from '@metal/api/common/options.ts';
import { ConfigError } from '@metal/kube/config-error.ts';
import type { IronicOptions } from './ironic/options.ts';

export type BackEndName = 'native' | 'ironic';
export const backEndNames = ['native', 'ironic'] as const satisfies readonly BackEndName[];

const persistentBoot = oneOf(['Default', 'Always', 'Never']);

/** An option without a text has the value of its environment variable, which the baremetal-operator of Metal3 reads too. */
export const metal3OptionTable = {
  provisioner: oneOf(backEndNames)(
    'metal3-provisioner',
    'native',
    'Back end of BareMetalHosts without an annotation of their own: native (Servers and ServerClaims) or ironic',
  ),
  maxProvisioningRetries: integer(
    'max-provisioning-retries',
    '5',
    'Attempts to deploy an image to a BareMetalHost before it needs a person; 0: no limit',
  ),
  provisioningLimit: integer(
    'provisioning-limit',
    '20',
    'BareMetalHosts that Ironic works on at once, except those that boot from virtual media; $PROVISIONING_LIMIT',
  ),
  buildsPreprovisioningImages: boolean(
    'build-preprov-image',
    'false',
    'BareMetalHosts get their ramdisk by PreprovisioningImages',
  ),
  ironicEndpoint: url('ironic-endpoint', '', 'URL of Ironic, for --metal3-provisioner=ironic; $IRONIC_ENDPOINT'),
  ironicAuthDirectory: optionalText(
    'ironic-auth-dir',
    '/opt/metal3/auth',
    'Directory whose files ironic/username and ironic/password have the login of Ironic; without it there is none; $METAL3_AUTH_ROOT_DIR',
  ),
  ironicCaFile: optionalText(
    'ironic-ca-file',
    '/opt/metal3/certs/ca/tls.crt',
    'Certificates (PEM) that the certificate of Ironic is verified against, if the file exists; $IRONIC_CACERT_FILE',
  ),
  ironicCertificateFile: optionalText(
    'ironic-client-cert-file',
    '/opt/metal3/certs/client/tls.crt',
    'Client certificate for Ironic, if the file exists; $IRONIC_CLIENT_CERT_FILE',
  ),
  ironicKeyFile: optionalText(
    'ironic-client-key-file',
    '/opt/metal3/certs/client/tls.key',
    'Private key of the client certificate; $IRONIC_CLIENT_PRIVATE_KEY_FILE',
  ),
  ironicInsecure: boolean('ironic-insecure', 'false', 'Do not verify the certificate of Ironic; $IRONIC_INSECURE'),
  ironicSkipsName: boolean(
    'ironic-skip-name-verification',
    'false',
    'The certificate of Ironic may be for another name; $IRONIC_SKIP_CLIENT_SAN_VERIFY',
  ),
  ironicReadyForMs: duration(
    'ironic-cache-ttl',
    '5s',
    'For this long Ironic counts as ready after an answer; $IRONIC_CLIENT_CACHE_TTL',
  ),
  ironicTimeoutMs: duration('ironic-timeout', '30s', 'Timeout of one request to Ironic; $IRONIC_CLIENT_TIMEOUT'),
  deployKernelUrl: optionalText('deploy-kernel-url', '', 'Kernel of the ramdisk of Ironic; $DEPLOY_KERNEL_URL'),
  deployRamdiskUrl: optionalText('deploy-ramdisk-url', '', 'Initrd of the ramdisk of Ironic; $DEPLOY_RAMDISK_URL'),
  deployIsoUrl: optionalText('deploy-iso-url', '', 'ISO image of the ramdisk of Ironic; $DEPLOY_ISO_URL'),
  liveIsoBoot: persistentBoot(
    'live-iso-force-persistent-boot-device',
    'Default',
    'Persistent boot device of live ISO images: Default, Always or Never; $LIVE_ISO_FORCE_PERSISTENT_BOOT_DEVICE',
  ),
  diskBoot: persistentBoot(
    'direct-deploy-force-persistent-boot-device',
    'Default',
    'Persistent boot device of images on disks: Default, Always or Never; $DIRECT_DEPLOY_FORCE_PERSISTENT_BOOT_DEVICE',
  ),
  ironicExternalUrlV6: optionalText(
    'ironic-external-url-v6',
    '',
    'URL of the images of Ironic for BMCs with an IPv6 address; $IRONIC_EXTERNAL_URL_V6',
  ),
  isProvisioningNetworkDisabled: boolean(
    'provisioning-network-disabled',
    'false',
    'Reject BMC addresses whose driver needs DHCP and PXE; $PROVISIONING_NETWORK_DISABLED',
  ),
};

/** Of the baremetal-operator of Metal3, by the option that has its value. */
const variables = {
  provisioningLimit: 'PROVISIONING_LIMIT',
  ironicEndpoint: 'IRONIC_ENDPOINT',
  ironicAuthDirectory: 'METAL3_AUTH_ROOT_DIR',
  ironicCaFile: 'IRONIC_CACERT_FILE',
  ironicCertificateFile: 'IRONIC_CLIENT_CERT_FILE',
  ironicKeyFile: 'IRONIC_CLIENT_PRIVATE_KEY_FILE',
  ironicInsecure: 'IRONIC_INSECURE',
  ironicSkipsName: 'IRONIC_SKIP_CLIENT_SAN_VERIFY',
  ironicReadyForMs: 'IRONIC_CLIENT_CACHE_TTL',
  ironicTimeoutMs: 'IRONIC_CLIENT_TIMEOUT',
  deployKernelUrl: 'DEPLOY_KERNEL_URL',
  deployRamdiskUrl: 'DEPLOY_RAMDISK_URL',
  deployIsoUrl: 'DEPLOY_ISO_URL',
  liveIsoBoot: 'LIVE_ISO_FORCE_PERSISTENT_BOOT_DEVICE',
  diskBoot: 'DIRECT_DEPLOY_FORCE_PERSISTENT_BOOT_DEVICE',
  ironicExternalUrlV6: 'IRONIC_EXTERNAL_URL_V6',
  isProvisioningNetworkDisabled: 'PROVISIONING_NETWORK_DISABLED',
} as const satisfies Partial<Record<keyof typeof metal3OptionTable, string>>;

export interface Metal3Config {
  readonly provisioner: BackEndName;
  /** 0: no limit. */
  readonly maxProvisioningRetries: number;
  readonly buildsPreprovisioningImages: boolean;
  readonly deployImages: DeployImages;
  /** Undefined without an endpoint. */
  readonly ironic: IronicOptions | undefined;
}

/** Ramdisks for PreprovisioningImages, by architecture; under the empty key that of the operator's own architecture. */
export interface DeployImages {
  readonly kernel: Readonly<Record<string, string>>;
  readonly ramdisk: Readonly<Record<string, string>>;
  readonly iso: Readonly<Record<string, string>>;
}

/** @throws ConfigError */
export function readMetal3Config(texts: OptionTexts, environment: NodeJS.ProcessEnv): Metal3Config {
  const values = parseOptions(metal3OptionTable, withEnvironment(texts, environment));
  const { ironicEndpoint: endpoint } = values;
  if (values.ironicTimeoutMs === 0) throw new ConfigError('--ironic-timeout: expected more than 0s');
  return {
    provisioner: values.provisioner,
    maxProvisioningRetries: values.maxProvisioningRetries,
    buildsPreprovisioningImages: values.buildsPreprovisioningImages,
    deployImages: {
      kernel: byArchitecture('DEPLOY_KERNEL', values.deployKernelUrl, environment),
      ramdisk: byArchitecture('DEPLOY_RAMDISK', values.deployRamdiskUrl, environment),
      iso: byArchitecture('DEPLOY_ISO', values.deployIsoUrl, environment),
    },
    ironic: endpoint === undefined ? undefined : ironicOptions(endpoint, values),
  };
}

/** Only a process with the component needs it. @throws ConfigError */
export function requireIronic({ provisioner, ironic }: Metal3Config): void {
  if (provisioner === 'ironic' && ironic === undefined)
    throw new ConfigError('--metal3-provisioner=ironic needs --ironic-endpoint: give the URL of Ironic');
}

type Values = ReturnType<typeof parseOptions<typeof metal3OptionTable>>;

const ironicOptions = (endpoint: string, values: Values): IronicOptions => ({
  endpoint,
  loginDirectory: values.ironicAuthDirectory && `${values.ironicAuthDirectory}/ironic`,
  tls: {
    caFile: values.ironicCaFile,
    certificateFile: values.ironicCertificateFile,
    keyFile: values.ironicKeyFile,
    isInsecure: values.ironicInsecure,
    skipsNameVerification: values.ironicSkipsName,
  },
  timeoutMs: values.ironicTimeoutMs,
  readyForMs: values.ironicReadyForMs,
  ramdisk: {
    kernelUrl: values.deployKernelUrl,
    initrdUrl: values.deployRamdiskUrl,
    isoUrl: values.deployIsoUrl,
  },
  usesPreprovisioningImages: values.buildsPreprovisioningImages,
  provisioningLimit: values.provisioningLimit,
  isProvisioningNetworkDisabled: values.isProvisioningNetworkDisabled,
  persistentBoot: { liveIso: values.liveIsoBoot, disk: values.diskBoot },
  externalUrlV6: values.ironicExternalUrlV6,
});

/** A flag is more special than the environment, which is more special than a default. */
function withEnvironment(texts: OptionTexts, environment: NodeJS.ProcessEnv): OptionTexts {
  const table: Readonly<Record<string, Option>> = metal3OptionTable;
  const found = Object.entries(variables).flatMap(([key, variable]) => {
    const option = table[key];
    const text = environment[variable] ?? '';
    if (option === undefined || text === '' || (texts[option.flag] ?? option.default) !== option.default) return [];
    return [[option.flag, text] as const];
  });
  return { ...texts, ...Object.fromEntries(found) };
}

/** `<NAME>_URL_<ARCHITECTURE>`, else `<NAME>_BY_ARCH` as a list of `architecture:url`, else the option. */
function byArchitecture(
  name: string,
  own: string | undefined,
  environment: NodeJS.ProcessEnv,
): Readonly<Record<string, string>> {
  const prefix = `${name}_URL_`;
  const listed = (environment[`${name}_BY_ARCH`] ?? '')
    .split(',')
    .map((item) => item.trim().split(/:(.*)/s, 2))
    .filter(([architecture = '', text = '']) => architecture !== '' && text !== '');
  const single = Object.entries(environment)
    .filter(([key, text = '']) => key.startsWith(prefix) && text !== '')
    .map(([key, text]) => [key.slice(prefix.length).toLowerCase(), text]);
  return { ...(own === undefined ? {} : { '': own }), ...Object.fromEntries([...listed, ...single]) };
}
