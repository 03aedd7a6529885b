@_spi(Internals) import SessionCore

extension CauseFamily {
  /// Ends by stored secrets that were missing, unreadable, or of another age than the journal, and
  /// sessions whose store does not work.
  static let storageEnds: [Cause] = [
    .secretsMissing, .secretUnreadable, .secretsAhead, .secretsOutdated, .secretsNewer,
    .proofKeyLost,
    .stillStoreFailing, .stillAccessRefused,
  ]
}

extension Cause {
  package static let secretsMissing = Cause(
    "secrets-missing", .end,
    "Expired: a stored secret was missing",
    reliesOn: .ownRecords,
    .signedOut,
    english: Plain(
      "a saved secret of the session was not found",
      fix: "sign in again; find out what removed it: cleared data, a new device, or another "
        + "place for secrets, such as another keychain group"),
    spanish: Plain(
      "no se encontró un secreto guardado de la sesión",
      fix: "vuelve a iniciar sesión; averigua qué lo quitó: datos borrados, un dispositivo nuevo, "
        + "u otro lugar para los secretos, como otro grupo del llavero"),
    portuguese: Plain(
      "um segredo salvo da sessão não foi encontrado",
      fix: "entre de novo; descubra o que o removeu: dados apagados, um dispositivo novo, ou "
        + "outro lugar para os segredos, como outro grupo do keychain"))
  package static let secretUnreadable = Cause(
    "secret-unreadable", .end,
    "Expired: the stored {} could not be read",
    reliesOn: .ownRecords,
    .signedOut,
    english: Plain(
      "a saved secret of the session could not be read",
      fix: "sign in again; send the developers its length and version, never its content"),
    spanish: Plain(
      "no se pudo leer un secreto guardado de la sesión",
      fix: "vuelve a iniciar sesión; envía a los desarrolladores su longitud y versión, nunca su "
        + "contenido"),
    portuguese: Plain(
      "não foi possível ler um segredo salvo da sessão",
      fix: "entre de novo; envie aos desenvolvedores o tamanho e a versão dele, nunca o conteúdo"))
  package static let secretsAhead = Cause(
    "secrets-ahead", .end,
    "Expired: the journal is older than the stored token",
    reliesOn: .recordsBefore,
    .signedOut,
    english: Plain(
      "the device held an older copy of the session's records than of its token",
      fix: "sign in again; leave the app's session files and secrets out of backups"),
    spanish: Plain(
      "el dispositivo tenía una copia más antigua de los registros de la sesión que de su token",
      fix: "vuelve a iniciar sesión; deja los archivos y secretos de la sesión fuera de las "
        + "copias de seguridad"),
    portuguese: Plain(
      "o dispositivo tinha uma cópia mais antiga dos registros da sessão do que do seu token",
      fix: "entre de novo; deixe os arquivos e segredos da sessão fora dos backups"))
  package static let secretsOutdated = Cause(
    "secrets-outdated", .end,
    "Expired: the stored token was older than the journal",
    reliesOn: .ownRecords,
    .signedOut,
    english: Plain(
      "the token on the device was older than the session's records",
      fix: "sign in again; leave the app's session files and secrets out of backups"),
    spanish: Plain(
      "el token del dispositivo era más antiguo que los registros de la sesión",
      fix: "vuelve a iniciar sesión; deja los archivos y secretos de la sesión fuera de las "
        + "copias de seguridad"),
    portuguese: Plain(
      "o token no dispositivo era mais antigo do que os registros da sessão",
      fix: "entre de novo; deixe os arquivos e segredos da sessão fora dos backups"))
  package static let secretsNewer = Cause(
    "secrets-newer", .end,
    "Replaced by a new sign-in: a newer version had written the stored secrets",
    reliesOn: .ownRecords,
    .signedOut,
    english: Plain(
      "a newer version had saved the secrets of the session, this version could not use them, and "
        + "a new sign-in replaced them",
      fix: "update the app to the newer version"),
    spanish: Plain(
      "una versión más nueva había guardado los secretos de la sesión, esta versión no pudo "
        + "usarlos, y un nuevo inicio de sesión los reemplazó",
      fix: "actualiza la app a la versión más nueva"),
    portuguese: Plain(
      "uma versão mais nova tinha salvo os segredos da sessão, esta versão não conseguiu usá-los, "
        + "e uma nova entrada os substituiu",
      fix: "atualize o app para a versão mais nova"))
  package static let proofKeyLost = Cause(
    "proof-key-lost", .end,
    "Expired: the key to which the server bound the tokens is lost",
    reliesOn: .ownRecords,
    .signedOut,
    english: Plain(
      "the key that the session's tokens are bound to is gone, or is another one",
      fix: "sign in again; keep the key where the session's secrets are, and as long as they are"),
    spanish: Plain(
      "la clave a la que están ligados los tokens de la sesión ya no está, o es otra",
      fix: "vuelve a iniciar sesión; guarda la clave donde están los secretos de la sesión, y "
        + "tanto tiempo como ellos"),
    portuguese: Plain(
      "a chave à qual os tokens da sessão estão ligados não existe mais, ou é outra",
      fix: "entre de novo; guarde a chave onde estão os segredos da sessão, e por tanto tempo "
        + "quanto eles"))
  package static let stillStoreFailing = Cause(
    "still-store-failing", .still,
    "Still signed in: the secret store does not work",
    .stillSignedIn,
    english: Plain(
      "the place where the device keeps secrets does not work, so the app may be unable to use or "
        + "renew the session",
      fix: "look below for the system's error; check the free space there, and on Apple systems "
        + "the app's signature and keychain group; the newest token may be lost, so let the server "
        + "accept the old one for some seconds"),
    spanish: Plain(
      "el lugar en el que el dispositivo guarda secretos no funciona, así que la app quizá no "
        + "pueda usar ni renovar la sesión",
      fix: "mira abajo el error del sistema; comprueba el espacio libre allí y, en sistemas de "
        + "Apple, la firma de la app y su grupo del llavero; el token más nuevo puede haberse "
        + "perdido, así que haz que el servidor acepte el anterior durante unos segundos"),
    portuguese: Plain(
      "o lugar em que o dispositivo guarda segredos não funciona, por isso o app talvez não possa "
        + "usar nem renovar a sessão",
      fix: "veja abaixo o erro do sistema; verifique o espaço livre ali e, em sistemas da Apple, a "
        + "assinatura do app e o seu grupo do keychain; o token mais novo pode ter se perdido, "
        + "então faça o servidor aceitar o antigo por alguns segundos"))
  package static let stillAccessRefused = Cause(
    "still-access-refused", .still,
    "Still signed in: the system refuses access to the stored secrets",
    .stillSignedIn,
    english: Plain(
      "the system does not let the app read or write its saved secrets, so the app cannot use or "
        + "renew the session",
      fix: "correct the owner and the access rights of the place where the app keeps its secrets, "
        + "then open the app"),
    spanish: Plain(
      "el sistema no permite a la app leer o escribir sus secretos guardados, así que la app no "
        + "puede usar ni renovar la sesión",
      fix:
        "corrige el propietario y los permisos del lugar en el que la app guarda sus secretos, y "
        + "después abre la app"),
    portuguese: Plain(
      "o sistema não permite que o app leia ou escreva os seus segredos salvos, por isso o app não "
        + "pode usar nem renovar a sessão",
      fix: "corrija o dono e as permissões do lugar em que o app guarda os seus segredos, e depois "
        + "abra o app"))
}

extension ExplanationDraft {
  /// Explains that the store does not work at the end of what was read; returns `false` if it does,
  /// or if the server's answers came later.
  mutating func explainStore() -> Bool {
    // An older failure than the token or the last opening may be over: nothing notes that.
    let opened = trail.openings.last { $0.opened != nil }?.sequence ?? 0
    let since = max(token?.announced?.sequence ?? 0, opened)
    guard let run = trail.storage.lasting(since: since),
      run.fact.sequence > token?.failures.lastAnswered?.sequence ?? 0
    else { return false }
    let isUnavailable = run.failed.cause == .unavailable
    // EACCES is 13 on every system.
    if run.failed.cause == .refused || run.failed.number == 13 {
      conclude(.stillAccessRefused, .proven)
    } else if isUnavailable {
      // `unavailable` means locked or refused, and a system without a lock screen locks nothing.
      if trail.device.isServer {
        conclude(.stillAccessRefused, .likely)
      } else {
        conclude(.stillSecretsLocked, .proven)
      }
    } else {
      conclude(.stillStoreFailing, .proven)
    }
    prove(
      .storeFailed, [.place(run.fact.sequence), .word(NoteFormatter.storage(run.failed))],
      on: run.fact)
    if let request = token?.requests.last, request.isLost { inferLostToken(in: request) }
    prove(.nobodyEnded)
    if explanation.cause == .stillSecretsLocked {
      advise(.firstUnlock)
    } else {
      if run.failed.number == -34_018 { advise(.checkEntitlement) }
      adviseStore()
    }
    return true
  }

  /// Infers that a token is lost that the server issued and the store could not write.
  mutating func inferLostToken(in request: RequestTrace) {
    guard proveDropping(of: request) || inferArrival(of: request), let token else { return }
    infer(
      .rotatedAnswerDropped, .possible, [.token(token.generation), .place(request.number)],
      on: request.sent)
  }

  mutating func explainMissingSecret() {
    conclude(.secretsMissing, .proven)
    showsOpenings = true
    prove(.itemMissing, on: evidence.expiry)
    maybe(.itemsNotMoved, .keychainCleared)
    maybeAccessLost()
    ruleOutUser()
    ruleOutRefusal()
    let isNamed = trail.storage.runs.contains {
      $0.recovered == nil && ($0.failed.cause == .missing || $0.failed.cause == .ownerMissing)
    }
    if !isNamed { leaveUntold(.whichItem) }
    advise(.signInAgain)
  }

  mutating func explainCorruptStorage() {
    showsOpenings = true
    ruleOutUser()
    ruleOutRefusal()
    let unreadable = evidence.batch.compactMap { fact -> (Fact, SecretItem)? in
      guard case .itemUnreadable(let item)? = fact.note else { return nil }
      return (fact, item)
    }
    guard let first = unreadable.first(where: { $0.1 == .token }) ?? unreadable.first else {
      conclude(.secretsAhead, .proven)
      prove(
        .storedTokenNewer, [tokenWord], on: evidence.expiry, token?.announced)
      maybe(.journalRestored, .itemGarbled)
      advise(.noJournalBackup)
      return
    }
    // An item other than the token matters only if the policy requires it.
    let isSure = first.1 == .token
    conclude(.secretUnreadable, isSure ? .proven : .likely, [.word(first.1.description)])
    for (fact, item) in unreadable { prove(.itemNotRead, [.word(item.description)], on: fact) }
    if !isSure {
      infer(.journalRestored, .possible)
      leaveUntold(.policyLimits)
    }
    infer(.itemGarbled, .likely)
    advise(.sendItemFacts)
  }

  /// The token that was current, even if no readable record names it.
  private var tokenWord: Value {
    token.map { .token($0.generation) } ?? .word("the session's token")
  }

  mutating func explainOutdatedSecrets() {
    conclude(.secretsOutdated, .proven)
    showsOpenings = true
    prove(
      .storedTokenOlder, [tokenWord], on: evidence.expiry, token?.announced)
    infer(.secretsRestored, .likely)
    ruleOutUser()
    ruleOutRefusal()
    advise(.noJournalBackup)
  }

  /// Explains an end at an opening or a refresh, for which the key was looked at.
  mutating func explainLostKey() {
    conclude(.proofKeyLost, .proven)
    showsOpenings = true
    if let bound = trail.bound {
      prove(.keyLost, [tokenWord, .place(bound.sequence)], on: bound, evidence.expiry)
    } else {
      prove(.keyLostUnnamed, [tokenWord], on: evidence.expiry)
    }
    infer(.keyRemoved, .likely)
    ruleOutUser()
    ruleOutRefusal()
    advise(.keepKey)
  }

  /// Explains that an earlier version of the app was installed, which cannot read the newer items.
  mutating func explainNewerSecrets() {
    conclude(.secretsNewer, .proven)
    showsOpenings = true
    prove(.itemsOfNewerVersion, on: evidence.expiry)
    infer(.appDowngraded, .likely)
    ruleOutUser()
    ruleOutRefusal()
    advise(.updateApp)
  }
}
