package gnomon;

import static gnomon.Checks.same;

import io.camunda.client.CamundaClient;
import java.nio.file.Path;
import java.util.Map;

/** Decisions are deployed, evaluated and searched; expressions are evaluated. */
final class Decisions {
  private final CamundaClient client;
  private final Checks checks;
  private final Path model;

  Decisions(final CamundaClient client, final Checks checks, final Path examples) {
    this.client = client;
    this.checks = checks;
    model = examples.resolve("pricing.dmn");
  }

  void run() {
    checks.check("a decision is deployed and evaluated", () -> {
      client.newDeployResourceCommand().addResourceFile(model.toString()).send().join();
      final var evaluation = client.newEvaluateDecisionCommand().decisionId("discount")
          .variables(Map.of("customer", "regular", "amount", 120)).send().join();
      same(null, evaluation.getFailureMessage());
    });
    checks.check("decisions and their graphs are found", () -> {
      same(1L, client.newDecisionDefinitionSearchRequest()
          .filter(f -> f.decisionDefinitionId("discount").isLatestVersion(true)).send().join().page().totalItems());
      same(1L, client.newDecisionRequirementsSearchRequest()
          .filter(f -> f.resourceName(model.toString())).send().join().page().totalItems());
    });
    checks.check("an expression is evaluated", () ->
        same(3, client.newEvaluateExpressionCommand().expression("=1 + 2").send().join().getResult()));
  }
}
