import { isIP } from 'node:net';
import type { ProvisioningState } from '@metal/api/metal3/bare-metal-host-status.ts';
import type { BareMetalHost } from '@metal/api/metal3/bare-metal-host.ts';
import {
  createdForHostAnnotation,
  hostOfServerAnnotation,
  hostTaint,
  movedHostAnnotation,
  provisionerAnnotation,
} from '@metal/api/metal3/metal3-contract.ts';
import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import { BMCSecret } from '@metal/api/v1alpha1/bmc-secret.ts';
import { Server } from '@metal/api/v1alpha1/server.ts';
import { holdServersAnnotation, operationAnnotation } from '@metal/api/wire/contract.ts';
import { keyOf } from '@metal/kube/kinds/kind.ts';
import type { BmcAddress } from '../bmc/parse-bmc-address.ts';
import type { Registration, RegistrationData } from '../provisioner/provisioner.ts';
import { done, failed, type StepResult } from '../provisioner/step-result.ts';
import { explained, hostKeyOf, isOlder, markOf, otherHostsAt } from './host-objects.ts';
import { bmcNameOf, portOf } from './native-names.ts';
import { guard, type NativePass, objectsOf, waiting, writeServer, written } from './native-pass.ts';
import { isAdoptable, isInUse, markOn } from './server-mark.ts';

const useIronic = `use annotation ${provisionerAnnotation}: ironic`;

/** Makes BMC and BMCSecret exist, finds the Server of the host, and marks it, so that nobody else gets its machine. */
export async function registerHost(pass: NativePass, data: RegistrationData): Promise<Registration> {
  const result = await registered(pass, data);
  return { result, id: objectsOf(pass).server?.metadata.uid };
}

async function registered(pass: NativePass, data: RegistrationData): Promise<StepResult> {
  const { access, parsed } = pass;
  if ('problem' in parsed) return failed(parsed.problem);
  const refused = unsupportedOf(access.host, parsed.address) ?? stateProblem(pass, data);
  if (refused !== undefined) return failed(refused);
  return (
    (await ensureSecret(pass, parsed.address)) ??
    (await ensureBmc(pass, parsed.address)) ??
    (await markServer(pass, parsed.address, data)) ??
    done
  );
}

/** What this back end cannot do, before anything exists for the host. */
function unsupportedOf({ spec }: BareMetalHost, { driver, host, scheme }: BmcAddress): string | undefined {
  if (driver.driver === 'ipmi')
    return `the native provisioner needs Redfish, found ${scheme}: give a redfish address, or ${useIronic}`;
  if (isIP(host) === 0) return `the native provisioner needs the IP address of the BMC, found the name ${host}`;
  if (spec.bootMode === 'UEFISecureBoot')
    return `the native provisioner does not switch Secure Boot on: use bootMode UEFI, or ${useIronic}`;
  return undefined;
}

const free: readonly ProvisioningState[] = ['registering', 'inspecting', 'preparing', 'available', 'ready'];

/** A Server that does not exist yet is discovered, which restarts its machine, or its machine is taken over as it is. */
function stateProblem(pass: NativePass, { state }: RegistrationData): string | undefined {
  const { server } = objectsOf(pass);
  if (server !== undefined) return undefined;
  const { metadata, status } = pass.access.host;
  const { ID: id = '' } = status?.provisioning ?? {};
  // It may be a node of Ironic, which would go on with the same machine. That of another cluster is given up there.
  if (id !== '' && metadata.annotations?.[movedHostAnnotation] === undefined)
    return `the host has the node ${id}, which is no Server: detach it before it gets another provisioner, or a new Server`;
  if (free.includes(state) || isInUse(pass.access.host, state)) return undefined;
  return `the Server of the host is gone in state ${state}: restore it, or detach the host`;
}

/**
 * The BMCSecret of a BMC that this back end created has what the Secret of the oldest host with this BMC has. Others have to agree: two
 * Secrets that disagree would make the operator log in by turns, until the BMC locks the account.
 */
async function ensureSecret(pass: NativePass, address: BmcAddress): Promise<StepResult | undefined> {
  const { access, client, caches } = pass;
  const { host, credentials } = access;
  const { bmc } = objectsOf(pass);
  if (credentials === undefined || (bmc !== undefined && !isOurs(bmc))) return undefined;
  const name = bmcNameOf(address);
  const data = { username: base64(credentials.username), password: base64(credentials.password) };
  const present = caches.bmcSecrets.get(name);
  if (present?.data?.username === data.username && present.data.password === data.password) return undefined;
  const [oldest] = otherHostsAt(address, host, caches);
  if (oldest !== undefined && isOlder(oldest, host)) {
    if (present === undefined) return waiting(`host ${keyOf(oldest.metadata)} of the same BMC is registered first`);
    return failed(`host ${keyOf(oldest.metadata)} has the same BMC with other credentials: give both the same`);
  }
  if (present !== undefined) await client.mergePatch(BMCSecret, { name }, { data }, guard(present));
  else {
    const metadata = { name, annotations: { [createdForHostAnnotation]: keyOf(host.metadata) } };
    await client.create(BMCSecret, { metadata, data });
  }
  return written();
}

async function ensureBmc(pass: NativePass, address: BmcAddress): Promise<StepResult | undefined> {
  const { access, client } = pass;
  const { bmc } = objectsOf(pass);
  if (bmc === undefined) {
    await client.create(BMC, newBmc(access.host, address));
    return written('the BMC is created');
  }
  const { state } = bmc.status ?? {};
  if (state === 'Error') return failed(`BMC ${bmc.metadata.name} is in state Error: ${explained(bmc, 'Ready')}`);
  return state === 'Enabled' ? undefined : waiting(`BMC ${bmc.metadata.name}: ${explained(bmc, 'Ready')}`);
}

function newBmc({ metadata, spec }: BareMetalHost, address: BmcAddress) {
  const name = bmcNameOf(address);
  const tls = spec.bmc?.disableCertificateVerification === true ? { tls: { insecureSkipVerify: true } } : {};
  return {
    metadata: {
      name,
      annotations: { [createdForHostAnnotation]: keyOf(metadata), [holdServersAnnotation]: hostTaint },
    },
    spec: {
      access: { ip: address.host },
      bmcSecretRef: { name },
      protocol: { name: 'Redfish', port: portOf(address), scheme: address.transport, ...tls },
    },
  } as const;
}

/** The Server that the address names, or the only one of the BMC. */
async function markServer(
  pass: NativePass,
  address: BmcAddress,
  { state, inspection }: RegistrationData,
): Promise<StepResult | undefined> {
  const { access } = pass;
  const { host } = access;
  const { bmc, server: marked } = objectsOf(pass);
  const server = marked ?? serverOf(pass, bmc, address);
  if (typeof server === 'string') return failed(server);
  if (server === undefined) return waiting(`BMC ${bmc?.metadata.name} has no Server yet`);
  const problem = ownershipProblem(server, host);
  if (problem !== undefined) return failed(problem);
  const use = isInUse(host, state) ? 'inUse' : inspection === 'disabled' ? 'unknown' : 'free';
  const patch = markOn(server, { host, use, isMarked: marked !== undefined, isHeld: isOurs(bmc) });
  if (patch === 'ignored') return waiting(`Server ${server.metadata.name} has ${operationAnnotation}=ignore`);
  if (patch === undefined) return undefined;
  if (marked === undefined && use === 'inUse' && !isAdoptable(server))
    return waiting(`Server ${server.metadata.name} is in state ${server.status?.state}: it is taken over after that`);
  return writeServer(pass, server, patch);
}

function serverOf({ caches }: NativePass, bmc: BMC | undefined, { path }: BmcAddress): Server | string | undefined {
  const all = [...caches.servers.all()].filter(({ spec }) => spec.bmcRef?.name === bmc?.metadata.name);
  const wanted = withoutSlash(path);
  if (wanted !== '') {
    const found = all.find(({ spec }) => withoutSlash(spec.systemURI ?? '') === wanted);
    const uris = all.map(({ spec }) => spec.systemURI ?? '').join(', ');
    return found ?? (all.length === 0 ? undefined : `the BMC has no system ${wanted}: expected one of ${uris}`);
  }
  if (all.length < 2) return all[0];
  const uris = all.map(({ spec }) => spec.systemURI ?? '').toSorted();
  return `the BMC has several systems: add one of ${uris.join(', ')} to the address`;
}

/** A machine that somebody holds, or that another host has, is never taken. */
function ownershipProblem(server: Server, host: BareMetalHost): string | undefined {
  const { name, annotations = {} } = server.metadata;
  const mark = annotations[hostOfServerAnnotation];
  if (mark === markOf(host)) return undefined;
  if (mark !== undefined) return `Server ${name} belongs to host ${hostKeyOf(server)}: delete one of the two hosts`;
  const { serverClaimRef: claim } = server.spec;
  if (claim === undefined) return undefined;
  return `Server ${name} is claimed by ${keyOf(claim)}: a host gets the machine only after its release`;
}

/** It was created for hosts. */
export const isOurs = (bmc: BMC | undefined): boolean =>
  bmc?.metadata.annotations?.[createdForHostAnnotation] !== undefined;

const withoutSlash = (path: string): string => path.replace(/\/+$/, '');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
