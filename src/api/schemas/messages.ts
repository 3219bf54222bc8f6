import { z } from 'zod';
import { MESSAGE_FIELDS, type MessageField } from '../../protocol/messages.ts';

/**
 * The schemas of messages for /openapi.json, made from the fields that `parseMessage` checks. They only describe: requests are
 * checked by `readMessage`.
 */
export const MESSAGE_SCHEMAS = {
  OverrideRequest: z.strictObject(fieldSchemas(MESSAGE_FIELDS.override)),
  AnswerRequest: z.strictObject(fieldSchemas(MESSAGE_FIELDS.answer)),
  FeedbackRequest: z.strictObject(fieldSchemas(MESSAGE_FIELDS.feedback)),
  PersonRequest: z.strictObject(fieldSchemas(MESSAGE_FIELDS.cancel_run)),
} as const;

export function fieldSchemas<Name extends string>(
  fields: Readonly<Record<Name, MessageField>>,
): Record<Name, z.ZodType> {
  const shape = Object.entries<MessageField>(fields).map(([key, field]) => [key, fieldSchema(field)]);
  return Object.fromEntries(shape) as Record<Name, z.ZodType>;
}

function fieldSchema(field: MessageField): z.ZodType {
  switch (field.type) {
    case 'flag':
      return z.boolean().optional().describe(field.sentence);
    case 'json':
      return z.json().optional().describe(field.sentence);
    case 'choice':
      return z.enum(field.choices).describe(field.sentence);
    case 'text': {
      const text = z.string().max(field.maxChars);
      const filled = field.mayBeBlank ? text : text.min(1);
      return (field.optional ? filled.nullish() : filled).describe(field.sentence);
    }
  }
}
