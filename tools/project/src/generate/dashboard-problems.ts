import type { Chapter, Panel } from './dashboard-panels.ts';

const inState = (state: string): string => `max by (server) (metal_server_state{state="${state}"}) == 1`;
const unserved = `${inState('Reserved')} unless on (server) max by (server) (metal_server_condition_status{condition_type="Ready",status="True"}) == 1`;
const waiting = '(time() - max by (claim_namespace, claim) (metal_claim_unbound_since_timestamp_seconds))';
const notReady = 'max by (bmc, reason) (metal_bmc_ready) == 0';
const inStateFor = '(time() - max by (server) (metal_server_state_since_timestamp_seconds))';

const count = (title: string, description: string, expression: string): Panel => ({
  title,
  description,
  type: 'stat',
  queries: { [title]: `count(${expression}) or vector(0)` },
});

/** What is broken now comes first. */
export const brokenChapters: readonly Chapter[] = [
  {
    title: 'Broken now',
    perLine: 6,
    height: 4,
    panels: [
      count('Servers in Error', 'They wait for a person.', inState('Error')),
      count('Reserved, not served', 'Servers whose machine is not as their claim asks.', unserved),
      count('Claims without a server', 'For more than half an hour.', `${waiting} > 1800`),
      count('BMCs not ready', 'The table below has the reasons.', notReady),
      count('Kinds with a problem', 'CRDs that are missing, outdated or being deleted.', 'metal_crd_problems'),
      {
        title: 'Replicas',
        description: 'Processes of the operator that Prometheus reads.',
        type: 'stat',
        queries: { Replicas: 'count(metal_build_info) or vector(0)' },
      },
    ],
  },
  {
    title: 'Where',
    perLine: 2,
    panels: [
      {
        title: 'Servers in Error',
        description: 'Seconds in this state. kubectl describe server has the cause.',
        type: 'table',
        unit: 's',
        queries: { seconds: `${inStateFor} and on (server) ${inState('Error')}` },
      },
      {
        title: 'Reserved, not served',
        description: 'Seconds in state Reserved, boot included. kubectl get server -o wide has the reason.',
        type: 'table',
        unit: 's',
        queries: { seconds: `${inStateFor} and on (server) (${unserved})` },
      },
      {
        title: 'BMCs not ready',
        description: 'With the reason of their condition Ready.',
        type: 'table',
        queries: { ready: notReady },
      },
      {
        title: 'Claims without a server',
        description: 'Seconds since they were created.',
        type: 'table',
        unit: 's',
        queries: { seconds: waiting },
      },
    ],
  },
];
