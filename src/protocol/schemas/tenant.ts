import { z } from 'zod';
import { TENANT_PATTERN } from '../ids.ts';

/** The label of whose run it is: letters, digits, ".", "_" and "-". */
export const tenantSchema = z.string().regex(TENANT_PATTERN);
