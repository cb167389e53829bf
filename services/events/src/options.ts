import { oneOf, type OptionTexts, parseOptions, port, text, url, urlOf } from '@metal/api/common/options.ts';

export const eventsOptionTable = {
  url: url(
    'event-url',
    '',
    'URL under which BMCs reach the event receiver; empty: <event-protocol>://$EVENT_ADDRESS:<event-port>, or no events',
  ),
  port: port('event-port', '10001', 'Port of the event receiver; 0 takes a free one'),
  protocol: text('event-protocol', 'http', 'Scheme of the composed event URL'),
  auth: oneOf(['token', 'none'])(
    'event-auth',
    'token',
    'token: the URL that a BMC sends its events to contains a secret token; none: it is the URL of v0.7.0',
  ),
};

export interface EventsConfig {
  /** URL that BMCs send events to; undefined: no events, which nothing depends on. */
  readonly url: string | undefined;
  readonly port: number;
  readonly auth: 'token' | 'none';
}

/** @throws ConfigError */
export function readEventsConfig(texts: OptionTexts, environment: NodeJS.ProcessEnv): EventsConfig {
  const { protocol, ...values } = parseOptions(eventsOptionTable, texts);
  const host = environment.EVENT_ADDRESS ?? '';
  const composed = host === '' ? undefined : urlOf(protocol, host, values.port);
  return { ...values, url: values.url ?? composed };
}
