package gnomon;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** Runs the tests and prints a line for each: its result, its name and what went wrong. */
public final class RunProcessTests implements TestExecutionListener {

  public static void main(String[] arguments) {
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request().selectors(selectClass(ProcessTests.class)).build(),
            new RunProcessTests());
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    boolean isPassed = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
    if (test.isTest() || !isPassed) {
      String trouble = result.getThrowable().map(Object::toString).orElse("").replaceAll("\\s+", " ");
      System.out.println((isPassed ? "passed" : "failed") + "\t" + test.getDisplayName() + "\t" + trouble);
    }
  }
}
