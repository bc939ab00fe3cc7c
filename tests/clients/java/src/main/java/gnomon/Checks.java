package gnomon;

import io.camunda.client.api.command.ProblemException;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.Callable;

/** Runs checks one after the other and prints a line for each: its result, its name and what went wrong. */
final class Checks {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long PAUSE_MILLISECONDS = 50;

  interface Check {
    void run() throws Exception;
  }

  /** A failed check does not keep the next ones from running. */
  void check(final String name, final Check check) {
    try {
      check.run();
      report("passed", name, "");
    } catch (final Exception | AssertionError failure) {
      report("failed", name, failure.toString());
    }
  }

  private static void report(final String result, final String name, final String reason) {
    System.out.println(String.join("\t", result, name, reason.replaceAll("\\s+", " ")));
  }

  static void same(final Object expected, final Object found) {
    if (!Objects.equals(expected, found)) {
      throw new AssertionError("expected " + expected + ", found " + found);
    }
  }

  /** The call is answered with a problem of this status, whose detail has this text. */
  static void refused(final int status, final String detail, final Check call) throws Exception {
    try {
      call.run();
    } catch (final ProblemException problem) {
      same(status, problem.code());
      final String found = problem.details().getDetail();
      if (!found.contains(detail)) {
        throw new AssertionError("expected a detail with '" + detail + "', found '" + found + "'");
      }
      return;
    }
    throw new AssertionError("expected a problem of status " + status + ", found an answer");
  }

  /** Asks until the answer is the expected one; the last answer is the one that counts. */
  static <T> void eventually(final T expected, final Callable<T> question) throws Exception {
    final Instant end = Instant.now().plus(PATIENCE);
    T found = question.call();
    while (!Objects.equals(expected, found) && Instant.now().isBefore(end)) {
      Thread.sleep(PAUSE_MILLISECONDS);
      found = question.call();
    }
    same(expected, found);
  }
}
