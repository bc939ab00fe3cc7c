package gnomon;

import static io.camunda.process.test.api.CamundaAssert.assertThatProcessInstance;
import static io.camunda.process.test.api.CamundaAssert.assertThatUserTask;
import static io.camunda.process.test.api.assertions.ElementSelectors.byId;
import static io.camunda.process.test.api.assertions.UserTaskSelectors.byTaskName;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.camunda.client.CamundaClient;
import io.camunda.client.api.response.ProcessInstanceEvent;
import io.camunda.client.impl.oauth.OAuthCredentialsProviderBuilder;
import io.camunda.process.test.api.CamundaProcessTestContext;
import io.camunda.process.test.api.CamundaProcessTestExtension;
import io.camunda.process.test.api.CamundaProcessTestRuntimeMode;
import io.camunda.zeebe.model.bpmn.Bpmn;
import io.camunda.zeebe.model.bpmn.BpmnModelInstance;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What people test of their processes, against a running server. */
class ProcessTests {

  @RegisterExtension
  static final CamundaProcessTestExtension EXTENSION =
      new CamundaProcessTestExtension()
          .withRuntimeMode(CamundaProcessTestRuntimeMode.REMOTE)
          .withRemoteCamundaClientBuilderFactory(
              () ->
                  CamundaClient.newClientBuilder()
                      .restAddress(URI.create(System.getProperty("rest")))
                      .grpcAddress(URI.create("http://" + System.getProperty("grpc")))
                      .credentialsProvider(
                          new OAuthCredentialsProviderBuilder()
                              .authorizationServerUrl(System.getProperty("token"))
                              .audience("demo")
                              .clientId("demo")
                              .clientSecret("demo-secret")
                              .credentialsCachePath(System.getProperty("cache"))
                              .build()))
          .withRemoteCamundaMonitoringApiAddress(URI.create(System.getProperty("monitoring")));

  private CamundaClient client;
  private CamundaProcessTestContext context;

  @BeforeEach
  void deploy() {
    BpmnModelInstance order =
        Bpmn.createExecutableProcess("order")
            .startEvent("received")
            .serviceTask("charge", task -> task.zeebeJobType("charge"))
            .userTask("approve", task -> task.zeebeUserTask().name("Approve the order"))
            .intermediateCatchEvent("wait", event -> event.timerWithDuration("PT24H"))
            .endEvent("shipped")
            .moveToActivity("charge")
            .boundaryEvent("declined", event -> event.error("declined"))
            .endEvent("refused")
            .done();
    client.newDeployResourceCommand().addProcessModel(order, "order.bpmn").send().join();
  }

  private ProcessInstanceEvent started() {
    return client
        .newCreateInstanceCommand()
        .bpmnProcessId("order")
        .latestVersion()
        .variables(Map.of("amount", 12))
        .send()
        .join();
  }

  @Test
  void aProcessIsCompletedByMocksAndTheClock() {
    context.mockJobWorker("charge").thenComplete(Map.of("receipt", "r-1"));

    ProcessInstanceEvent instance = started();
    assertThatProcessInstance(instance).hasActiveElements("approve").hasVariable("receipt", "r-1");
    assertThatUserTask(byTaskName("Approve the order")).isCreated();
    context.completeUserTask("approve", Map.of("approved", true));
    assertThatProcessInstance(instance).hasActiveElements("wait");
    context.increaseTime(Duration.ofDays(1));

    assertThatProcessInstance(instance)
        .isCompleted()
        .hasCompletedElementsInOrder(byId("charge"), byId("approve"), byId("wait"), byId("shipped"))
        .hasVariable("approved", true);
  }

  @Test
  void anErrorOfAMockLeadsToItsBoundaryEvent() {
    context.mockJobWorker("charge").thenThrowBpmnError("declined", Map.of("reason", "no money"));

    ProcessInstanceEvent instance = started();

    assertThatProcessInstance(instance).isCompleted().hasCompletedElements("declined", "refused");
  }

  @Test
  void aTestStartsWithoutTheDataOfTheOneBefore() {
    started();

    int found = client.newProcessInstanceSearchRequest().send().join().items().size();

    assertEquals(1, found);
  }

  @Test
  void theNextTestStartsWithoutThemToo() {
    aTestStartsWithoutTheDataOfTheOneBefore();
  }
}
