/** A Redfish resource, or what the BMC answers in its place. */
export type Resource = Record<string, unknown>;

/** What a BMC answers, before faults and encoding. */
export interface Reply {
  readonly status: number;
  readonly body?: Resource | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Happens when the answer is out. */
  readonly afterwards?: () => void;
}

/** Message identifiers of the Base registry that are used here. */
export type MessageId =
  | 'GeneralError'
  | 'NoValidSession'
  | 'ResourceAtUriUnauthorized'
  | 'InsufficientPrivilege'
  | 'ResourceMissingAtURI'
  | 'OperationNotAllowed'
  | 'PropertyUnknown'
  | 'PropertyNotWritable'
  | 'PropertyValueNotInList'
  | 'PropertyValueTypeError'
  | 'PropertyMissing'
  | 'ActionParameterNotSupported'
  | 'ActionParameterMissing'
  | 'MalformedJSON'
  | 'PreconditionFailed'
  | 'QueryNotSupported'
  | 'SessionLimitExceeded'
  | 'ServiceTemporarilyUnavailable'
  | 'ResourceAlreadyExists'
  | 'ResourceInUse'
  | 'CreateLimitReachedForResource'
  | 'Success';

/** An error as DSP0266 shapes it. */
export const failure = (status: number, messageId: MessageId, message: string): Reply => ({
  status,
  body: envelope(messageId, message, status < 400 ? 'OK' : 'Critical'),
});

/** Answer to a change that went well: some vendors say nothing, others say so at length. */
export const done = (status: 200 | 202 | 204): Reply =>
  status === 204 ? { status } : { status, body: envelope('Success', 'The request completed successfully.', 'OK') };

export const missing = (path: string): Reply => failure(404, 'ResourceMissingAtURI', `${path} does not exist`);

function envelope(messageId: MessageId, message: string, severity: 'OK' | 'Critical'): Resource {
  const id = `Base.1.18.${messageId}`;
  return {
    error: {
      code: id,
      message,
      '@Message.ExtendedInfo': [
        { '@odata.type': '#Message.v1_2_1.Message', MessageId: id, Message: message, MessageSeverity: severity },
      ],
    },
  };
}

/** Member of a value of unknown shape. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
