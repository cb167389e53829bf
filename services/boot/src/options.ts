import { isAddressOrNetwork } from '@metal/api/common/address-list.ts';
import { parseDuration } from '@metal/api/common/duration.ts';
import {
  boolean,
  itemsOf,
  list,
  optionalText,
  optionOf,
  type OptionTexts,
  parseOptions,
  port,
  type Reject,
  size,
  text,
  url,
  urlOf,
} from '@metal/api/common/options.ts';
import { type AwaitedBootStep, awaitedBootSteps } from '@metal/api/wire/boot-steps.ts';
import { defaultRefusedNetworks, imageSourcesOf } from './image-sources.ts';

const addressesAndNetworks = optionOf('string', (found, reject) => {
  const items = itemsOf(found);
  const wrong = items.find((item) => !isAddressOrNetwork(item));
  return wrong === undefined ? items : reject(`"${wrong}" is neither an address nor a network like 192.0.2.0/24`);
});

const usualRegistry = 'ghcr.io';
const registries = optionOf('string', (found) => itemsOf(found || usualRegistry));

const stepDeadlines = optionOf(
  'string',
  (found, reject): Partial<Record<AwaitedBootStep, number>> =>
    Object.fromEntries(itemsOf(found).map((pair) => deadlineOf(pair, reject))),
);

export const bootOptionTable = {
  port: port('boot-port', '8082', 'Port of the boot service; 0 takes a free one'),
  url: url(
    'boot-url',
    '',
    'URL under which machines reach the boot service; empty: http://$BOOT_ADDRESS:<boot-port>, or the host of the registry URL',
  ),
  trustedProxies: addressesAndNetworks(
    'trusted-proxies',
    '',
    'Addresses and networks (CIDR, separated by commas) of proxies in front of the boot service whose X-Forwarded-For is trusted; empty: none',
  ),
  bindsTokens: boolean(
    'bind-boot-tokens',
    'true',
    'Serve a boot only to the client that loads it first, and to no other address for ten minutes; false where the addresses of one machine change between requests, behind NAT or a load balancer',
  ),
  ipxeDirectory: optionalText(
    'ipxe-directory',
    '/usr/lib/ipxe',
    'Directory with iPXE programs (ipxe.efi, ipxe-arm64.efi, …) for firmware that boots over HTTP and has no boot configuration; empty: none are served',
  ),
  imagesFile: optionalText(
    'boot-images',
    '',
    'File that names the kernel, initrd and command line of images (YAML or JSON)',
  ),
  fileRoots: list('boot-file-roots', '', 'Directories, separated by commas, below which spec.image may name file:///…'),
  allowedOrigins: list(
    'allowed-image-origins',
    '',
    'Origins, separated by commas, that spec.image and spec.diskImage may name by URL, such as https://images.example:8443; empty: none. The file of --boot-images and --probe-os-image may name any',
  ),
  refusedNetworks: list(
    'refused-image-networks',
    defaultRefusedNetworks.join(','),
    'Networks, separated by commas, to which no connection is made for such an image, nor where a registry redirects to; empty: the default',
  ),
  publishesBootConfigs: boolean(
    'publish-boot-configs',
    'false',
    'Maintain an IPXEBootConfig or HTTPBootConfig for each prepared boot, for programs that read those of boot.ironcore.dev; two more writes per boot',
  ),
  butane: text('butane', 'butane', 'Program that translates ignition with format: fcos; a path, or a name in PATH'),
  allowed: registries(
    'allowed-registries',
    usualRegistry,
    'Registries, separated by commas, that OCI images may be booted from; docker.io is the Docker Hub',
  ),
  insecure: list(
    'insecure-registries',
    '',
    'Registries, separated by commas, that are accessed over http; list them in --allowed-registries, too',
  ),
  credentialsFile: optionalText(
    'registry-credentials-file',
    '',
    'Credentials for registries, as docker login writes them to config.json; read again when the file changes',
  ),
  architecture: text(
    'architecture',
    'amd64',
    'Architecture of servers whose processors do not report one: amd64, arm64',
  ),
  cacheDirectory: optionalText(
    'boot-cache-dir',
    '',
    'Directory for artefacts pulled from registries, for one process; empty: a temporary directory that is removed when the process ends',
  ),
  cacheBytes: size(
    'boot-cache-size',
    '20Gi',
    'Maximum size of that directory; the least recently used artefacts are evicted',
  ),
  deadlines: stepDeadlines(
    'boot-step-deadlines',
    '',
    'How long a boot step may take before it is reported as overdue, separated by commas, where firmware or network are slower than usual: script=30m,kernel=20m; of script, kernel, initrd, uki, ignition, probe',
  ),
  defaultUkiImage: optionalText(
    'default-httpboot-oci-image',
    '',
    'OCI image whose UKI is offered at /httpboot to machines without a Server; empty: none',
  ),
};

export type BootConfig = Readonly<ReturnType<typeof readBootConfig>>;

/** @throws ConfigError */
export function readBootConfig(
  texts: OptionTexts,
  { environment, registryUrl }: { environment: NodeJS.ProcessEnv; registryUrl: string },
) {
  const values = parseOptions(bootOptionTable, texts);
  const { allowedOrigins, refusedNetworks, ...withoutSources } = values;
  const { allowed, insecure, credentialsFile, architecture, cacheDirectory, cacheBytes, ...others } = withoutSources;
  const host = environment.BOOT_ADDRESS ?? (registryUrl === '' ? '' : new URL(registryUrl).hostname);
  return {
    ...others,
    url: values.url ?? (host === '' ? '' : urlOf('http', host, values.port)),
    imageSources: imageSourcesOf(allowedOrigins, refusedNetworks),
    registries: { allowed, insecure, credentialsFile, architecture, cacheDirectory, cacheBytes },
  };
}

function deadlineOf(pair: string, reject: Reject): [step: AwaitedBootStep, ms: number] {
  const [name, written = ''] = pair.split('=');
  const step = awaitedBootSteps.find((known) => known === name);
  const ms = parseDuration(written);
  return step === undefined || ms === undefined || ms <= 0
    ? reject(`"${pair}" is no deadline; expected one like script=30m, of ${awaitedBootSteps.join(', ')}`)
    : [step, ms];
}
