import SessionKit

/// The identity SDK of a scenario and the device's browser; the state of both is shared by
/// processes.
struct ScenarioIdentity: Sendable {
  let browser: HeadlessBrowser
  let provider: CodeFlowProvider<HeadlessPage>
  /// Whether the SDK keeps the refresh token.
  let isOwned: Bool

  init(_ setting: ScenarioSetting, on stage: ScenarioStage) {
    let browser = HeadlessBrowser(stage.network.line(of: "page"))
    self.browser = browser
    isOwned = setting.isOwned
    provider = CodeFlowProvider(
      setting.identity(at: stage.baseURL),
      accounts: IdentityAccounts(keepsTokens: setting.isOwned, seed: 0x1D),
      transport: stage.network.line(of: "page")
    ) { try await browser.hidden($0, until: $1) }
  }
}
