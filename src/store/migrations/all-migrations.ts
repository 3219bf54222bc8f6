import type { Migration } from 'kysely';
import { failureMemory } from './0001-failure-memory.ts';
import { artifactsAndArchive } from './0002-artifacts-and-archive.ts';
import { reflections } from './0003-reflections.ts';
import { feedbackAndCounts } from './0004-feedback-and-counts.ts';
import { archivedGuards } from './0005-archived-guards.ts';
import { lessonsByFailure } from './0006-lessons-by-failure.ts';
import { evaluationsAndSwitches } from './0007-evaluations-and-switches.ts';
import { reservations } from './0008-reservations.ts';
import { switchNotes } from './0009-switch-notes.ts';
import { encryptedArtifacts } from './0010-encrypted-artifacts.ts';
import { lessonTenants } from './0011-lesson-tenants.ts';
import { lessonTrials } from './0012-lesson-trials.ts';
import { enhancementArms } from './0013-enhancement-arms.ts';
import { runFigures } from './0014-run-figures.ts';
import { recallTexts } from './0015-recall-texts.ts';
import { lessonSchemas } from './0016-lesson-schemas.ts';
import { feedbackSources } from './0017-feedback-sources.ts';
import { biasTenants } from './0018-bias-tenants.ts';

/** Listed in code and in order, so that a bundle contains them. After the first release, only append. */
export const migrations: Record<string, Migration> = {
  '0001_failure_memory': failureMemory,
  '0002_artifacts_and_archive': artifactsAndArchive,
  '0003_reflections': reflections,
  '0004_feedback_and_counts': feedbackAndCounts,
  '0005_archived_guards': archivedGuards,
  '0006_lessons_by_failure': lessonsByFailure,
  '0007_evaluations_and_switches': evaluationsAndSwitches,
  '0008_reservations': reservations,
  '0009_switch_notes': switchNotes,
  '0010_encrypted_artifacts': encryptedArtifacts,
  '0011_lesson_tenants': lessonTenants,
  '0012_lesson_trials': lessonTrials,
  '0013_enhancement_arms': enhancementArms,
  '0014_run_figures': runFigures,
  '0015_recall_texts': recallTexts,
  '0016_lesson_schemas': lessonSchemas,
  '0017_feedback_sources': feedbackSources,
  '0018_bias_tenants': biasTenants,
};
