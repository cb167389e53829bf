import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonWith } from './python-program.ts';

const version = '1.3.2';
const program = 'import sys; from redfish_protocol_validator.console_scripts import main; sys.exit(main())';

export interface ValidatedService {
  /** With https; the validator tests TLS as well. */
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly caPem: string;
}

export interface ProtocolReport {
  /** Checks that passed; one assertion has many. */
  readonly passed: number;
  /** Names of the assertions with a failed check, in order. */
  readonly failedAssertions: readonly string[];
  /** The failed checks, as text for people. */
  readonly failures: readonly string[];
}

/** Runs DMTF's Redfish-Protocol-Validator against a service. Takes half a minute: it listens for SSDP. */
export async function validateProtocol(service: ValidatedService): Promise<ProtocolReport> {
  const python = await pythonWith('redfish-protocol-validator', version);
  const directory = await mkdtemp(join(tmpdir(), 'metal-validator-'));
  try {
    const config = await writeConfig(directory, service);
    const output = await outputOf(python, ['-c', program, '--config', config]);
    const report = (await readdir(directory)).find((name) => name.endsWith('.tsv'));
    if (report === undefined) throw new Error(`the validator wrote no report:\n${output}`);
    return readReport(await readFile(join(directory, report), 'utf8'));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** The credentials are in a file, so that they are not in the process list. */
async function writeConfig(directory: string, service: ValidatedService): Promise<string> {
  const { url, username, password, caPem } = service;
  const caFile = join(directory, 'ca.pem');
  const config = join(directory, 'config.ini');
  await writeFile(caFile, caPem);
  const lines = [
    '[Authentication]',
    `user = ${username}`,
    `password = ${password}`,
    '[Connection]',
    `rhost = ${url}`,
    `ca-bundle = ${caFile}`,
    'avoid-http-redirect = true',
    '[Reporting]',
    `report-dir = ${directory}`,
    'report-type = tsv',
  ];
  await writeFile(config, `${lines.join('\n')}\n`, { mode: 0o600 });
  return config;
}

/** Its exit code is 1 after a failed check, too. REQUESTS_CA_BUNDLE of the environment would replace the CA. */
const outputOf = (file: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    execFile(file, args, { env: { PATH: process.env.PATH } }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });

/** Columns: assertion, method, status, URI, result, message, requirement. */
function readReport(text: string): ProtocolReport {
  const rows = text
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'));
  const failed = rows.filter(([, , , , result]) => result === 'FAIL');
  return {
    passed: rows.filter(([, , , , result]) => result === 'PASS').length,
    failedAssertions: [...new Set(failed.map(([assertion = '']) => assertion))].toSorted(),
    failures: failed.map(([assertion, method, status, uri, , message]) =>
      [assertion, method, status, uri, message].join(' '),
    ),
  };
}
