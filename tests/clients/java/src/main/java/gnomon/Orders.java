package gnomon;

import static gnomon.Checks.eventually;
import static gnomon.Checks.same;

import io.camunda.client.CamundaClient;
import io.camunda.client.api.response.ActivatedJob;
import io.camunda.client.api.response.DeploymentEvent;
import io.camunda.client.api.response.ProcessInstanceEvent;
import io.camunda.client.api.search.enums.ProcessInstanceState;
import io.camunda.client.api.worker.JobClient;
import io.camunda.client.api.worker.JobHandler;
import io.camunda.client.api.worker.JobWorker;
import java.nio.file.Path;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Fifty orders, worked by job workers: a card is declined for every tenth, every fifth is out of stock. */
final class Orders {
  static final String PROCESS = "order-fulfilment";
  static final int NUMBER = 50;
  static final int DECLINED = NUMBER / 10;
  static final int OUT_OF_STOCK = NUMBER / 5;

  final List<Long> keys = new ArrayList<>();
  final OffsetDateTime begin = OffsetDateTime.now().minusMinutes(1);

  private final CamundaClient client;
  private final Checks checks;
  private final Path model;
  private volatile boolean cardsAreAccepted;
  private long definitionKey;

  Orders(final CamundaClient client, final Checks checks, final Path examples) {
    this.client = client;
    this.checks = checks;
    model = examples.resolve(PROCESS + ".bpmn");
  }

  long definitionKey() {
    return definitionKey;
  }

  Path model() {
    return model;
  }

  void run() {
    checks.check("the cluster is healthy", () -> {
      client.newStatusRequest().send().join();
      same(false, client.newTopologyRequest().send().join().getBrokers().isEmpty());
    });
    checks.check("a process is deployed", () -> {
      final DeploymentEvent deployment =
          client.newDeployResourceCommand().addResourceFile(model.toString()).send().join();
      same(PROCESS, deployment.getProcesses().get(0).getBpmnProcessId());
      definitionKey = deployment.getProcesses().get(0).getProcessDefinitionKey();
    });
    checks.check("fifty instances are created", () -> {
      IntStream.range(0, NUMBER).forEach(number -> keys.add(created(number).getProcessInstanceKey()));
      same(NUMBER, keys.stream().distinct().toList().size());
    });
    final List<JobWorker> workers = workers();
    checks.check("workers complete what they can", () ->
        eventually((long) NUMBER - DECLINED, () -> number(ProcessInstanceState.COMPLETED)));
    checks.check("a job without retries becomes an incident", () ->
        eventually((long) DECLINED, () ->
            client.newIncidentSearchRequest().send().join().page().totalItems()));
    checks.check("an incident is resolved and the instance goes on", () -> {
      cardsAreAccepted = true;
      final var incident =
          client.newIncidentSearchRequest().filter(f -> f.processInstanceKey(keys.get(0))).send().join().items().get(0);
      client.newUpdateRetriesCommand(incident.getJobKey()).retries(1).send().join();
      client.newResolveIncidentCommand(incident.getIncidentKey()).send().join();
      eventually(ProcessInstanceState.COMPLETED, () ->
          client.newProcessInstanceGetRequest(keys.get(0)).send().join().getState());
    });
    checks.check("an instance is created and its result awaited", () -> {
      final var result =
          client.newCreateInstanceCommand().bpmnProcessId(PROCESS).latestVersion().variables(order(1))
              .tags("awaited").withResult().fetchVariables("payment").requestTimeout(Duration.ofSeconds(20))
              .send().join();
      same(Map.of("payment", Map.of("transactionId", "t-1", "amount", 3)), result.getVariablesAsMap());
    });
    workers.forEach(JobWorker::close);
  }

  private ProcessInstanceEvent created(final int number) {
    return client.newCreateInstanceCommand().bpmnProcessId(PROCESS).latestVersion().variables(order(number))
        .tags("java").businessId("java-" + number).send().join();
  }

  static Map<String, Object> order(final int number) {
    final Map<String, Object> item = Map.of("article", "book", "quantity", number + 2, "price", 1);
    return Map.of(
        "number", number,
        "priority", number % 2 == 0 ? "express" : "normal",
        "order", Map.of("customer", "c-" + number, "items", List.of(item)));
  }

  private long number(final ProcessInstanceState state) {
    return client.newProcessInstanceSearchRequest().filter(f -> f.processDefinitionId(PROCESS).state(state).tags("java"))
        .send().join().page().totalItems();
  }

  private List<JobWorker> workers() {
    return List.of(
        worker("check-stock", (jobs, job) ->
            jobs.newCompleteCommand(job).variables(Map.of("inStock", numberOf(job) % 5 != 4)).send().join()),
        worker("charge-card", this::charge),
        worker("ship-order", (jobs, job) -> jobs.newCompleteCommand(job).send().join()),
        worker("notify-customer", (jobs, job) -> jobs.newCompleteCommand(job).send().join()));
  }

  private JobWorker worker(final String type, final JobHandler handler) {
    return client.newWorker().jobType(type).handler(handler).name("java-" + type).timeout(Duration.ofMinutes(1)).open();
  }

  private void charge(final JobClient jobs, final ActivatedJob job) {
    final int number = numberOf(job);
    if (number % 10 == 0 && !cardsAreAccepted) {
      jobs.newFailCommand(job).retries(job.getRetries() - 1).errorMessage("card declined").send().join();
    } else {
      jobs.newCompleteCommand(job).variables(Map.of("transactionId", "t-" + number)).send().join();
    }
  }

  private static int numberOf(final ActivatedJob job) {
    return (Integer) job.getVariable("number");
  }
}
