import type { ProbeReport } from '@metal/api/wire/probe-report.ts';
import { type MachineFiles, pciAddressIn } from './machine-files.ts';
import type { RunProgram } from './environment.ts';

type Nic = ProbeReport['nics'][number];
interface Tools {
  run: RunProgram;
  signal: AbortSignal;
}

/** Network cards. Attributes that `ethtool` cannot read are empty. */
export async function readNics(sys: MachineFiles, tools: Tools): Promise<Nic[]> {
  const names = await sys.names('class/net');
  const devices = await Promise.all(names.map((name) => sys.link(`class/net/${name}/device`)));
  return Promise.all(names.filter((_, position) => devices[position] !== '').map((name) => readNic(name, sys, tools)));
}

async function readNic(name: string, sys: MachineFiles, { run, signal }: Tools): Promise<Nic> {
  const ethtool = (...parameters: string[]) => run('ethtool', [...parameters, name], signal).catch(() => '');
  const settings = await ethtool();
  const driver = await ethtool('-i');
  const speed = await sys.text(`class/net/${name}/speed`);
  return {
    name,
    mac: (await sys.text(`class/net/${name}/address`)).toLowerCase(),
    pciAddress: pciAddressIn(await sys.link(`class/net/${name}`)) || 'unknown',
    speed: Number(speed) > 0 ? `${speed}Mb/s` : '',
    linkModes: valuesAfter('Supported link modes', settings),
    supportedPorts: valuesAfter('Supported ports', settings).filter((value) => value !== '[' && value !== ']'),
    firmwareVersion: /^firmware-version:[ \t]*(.*)$/m.exec(driver)?.[1]?.trim() ?? '',
  };
}

/** The values after a label; ethtool continues long lists on indented lines without a label. */
function valuesAfter(label: string, output: string): string[] {
  const lines = output.split('\n');
  const start = lines.findIndex((line) => line.trim().startsWith(`${label}:`));
  if (start < 0) return [];
  const following = lines.slice(start + 1);
  const end = following.findIndex((line) => line.includes(':') || line.trim() === '');
  const first = (lines[start] ?? '').trim().slice(label.length + 1);
  return [first, ...(end < 0 ? following : following.slice(0, end))]
    .join(' ')
    .split(/\s+/)
    .filter((value) => value !== '' && value !== 'Not' && value !== 'reported');
}
