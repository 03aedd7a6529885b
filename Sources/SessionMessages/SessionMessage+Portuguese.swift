import SessionKit

extension SessionMessage {
  /// What happened, in Portuguese.
  var inPortuguese: String {
    switch self {
    case .userNameMissing: "Falta o nome de usuário."
    case .notAnEmail: "O nome de usuário precisa ser um endereço de e-mail."
    case .passwordMissing: "Falta a senha."
    case .passwordTooShort(let minimum): "A senha precisa ter pelo menos \(minimum) caracteres."
    case .providerSignInMissing: "Não foi possível entrar com o outro serviço."
    case .wrongCredentials: "O nome de usuário ou a senha está incorreto."
    case .invalidInput: "O serviço não aceitou os dados informados."
    case .notSignedIn: "Você não iniciou uma sessão."
    case .alreadySignedIn: "Já existe uma sessão iniciada."
    case .otherUsersSession: "A sessão expirada pertence a outra pessoa."
    case .signInUnderWay: "Já há um início de sessão em andamento."
    case .sessionExpired: "Sua sessão expirou."
    case .endedByService: "O serviço encerrou sua sessão."
    case .inactive: "Sua sessão terminou porque ficou muito tempo sem uso."
    case .storedSignInLost: "Seu acesso não está mais guardado neste dispositivo."
    case .loggedOut: "Sua sessão foi encerrada."
    case .changesNotSent(let count):
      "Você não saiu da sessão, porque \(count == 1 ? "1 alteração não foi enviada" : "\(count) alterações não foram enviadas")."
    case .notProlongable: "Sua sessão não pode ser prolongada. Você pode continuar até que termine."
    case .signInRefused: "O serviço não aceitou sua sessão para isto."
    case .superseded: "Sua sessão mudou nesse meio-tempo, e nada foi feito."
    case .closed: "A sessão está fechada."
    case .cancelled: "Foi cancelado."
    case .notAllowed: "Você não tem permissão para fazer isto."
    case .accountInactive: "Sua conta não está ativa."
    case .accountDeleted: "Sua conta foi excluída."
    case .accountLocked: "Sua conta está bloqueada."
    case .notFound: "Não foi encontrado."
    case .conflict: "Foi alterado em outro lugar nesse meio-tempo."
    case .alreadyDeleted: "Já tinha sido excluído."
    case .tooManyRequests: "Houve tentativas demais."
    case .serviceTrouble: "O serviço está com um problema."
    case .dataTrouble: "O serviço não consegue acessar seus dados no momento."
    case .strangeAnswer: "O serviço respondeu de um modo que este aplicativo não entende."
    case .unreadableAnswer: "Não é possível ler a resposta do serviço."
    case .appNotSetUp: "Este aplicativo não está configurado corretamente para o serviço."
    case .networkSignIn:
      "Algo na rede respondeu no lugar do serviço. A rede pode pedir que você se identifique: abra "
        + "uma página no navegador."
    case .gatewayTrouble:
      "O serviço, ou algo na frente dele, respondeu com um erro."
    case .noConnection: "Não foi possível conectar ao serviço. Verifique sua conexão."
    case .noAnswer: "O serviço não respondeu. Ele pode ter feito o que você pediu."
    case .insecureConnection: "A conexão com o serviço não seria privada."
    case .deviceLocked:
      "Os dados guardados neste dispositivo ainda não podem ser lidos. Sua sessão não foi encerrada."
    case .noAccess:
      "O aplicativo não pode ler seus dados neste dispositivo. Sua sessão não foi encerrada."
    case .dataNotFound:
      "O aplicativo não encontra seus dados neste dispositivo e os procura de novo. Sua sessão não foi "
        + "encerrada."
    case .noSpace: "Não há mais espaço neste dispositivo."
    case .answerNotStored(let cause):
      "\(cause.inPortuguese) A resposta do serviço valerá assim que puder ser guardada."
    case .answerDropped(let cause):
      "\(cause.inPortuguese) A última resposta do serviço se perdeu. Talvez você precise entrar de novo."
    case .storageBusy: "Outro processo está usando os dados guardados neste dispositivo."
    case .storageLost: "O aplicativo perdeu o acesso aos seus dados neste dispositivo."
    case .storageUnusable: "O aplicativo não consegue usar seus dados neste dispositivo."
    case .storageDamaged: "Os dados do aplicativo neste dispositivo estão danificados."
    case .newerData: "Os dados deste dispositivo são de uma versão mais recente do aplicativo."
    case .tooLarge: "Os dados a guardar neste dispositivo são grandes demais."
    case .notTidied:
      "O aplicativo não conseguiu organizar seus dados neste dispositivo. Nada foi perdido."
    case .historySummedUp: "Os registros antigos foram resumidos."
    case .othersChanges(let count):
      "\(count == 1 ? "1 alteração de outra pessoa ainda não foi enviada" : "\(count) alterações de outra pessoa ainda não foram enviadas")."
    case .changesFull(let count):
      "\(count == 1 ? "1 alteração não foi enviada" : "\(count) alterações não foram enviadas"), "
        + "e não há espaço para mais uma."
    case .changeTooLong: "Isto é longo demais para ser guardado até que possa ser enviado."
    case .changeGivenUp: "Esta alteração não pôde ser enviada, e não se tenta mais."
    case .changeNotWaiting: "Esta alteração não está mais pendente. Ela pode ter sido enviada."
    case .changesBeingSent: "Suas alterações já estão sendo enviadas."
    case .logoutUnderWay: "A saída da sessão está em andamento."
    case .serviceNotToldYet: "Você saiu da sessão. O serviço será avisado mais tarde."
    case .notClearedYet:
      "Você saiu da sessão. Os dados deste dispositivo serão apagados na próxima vez que o aplicativo "
        + "for aberto."
    case .nowLoggedOut: "Você saiu da sessão."
    }
  }
}

extension SessionAdvice {
  /// The advice, in Portuguese.
  var inPortuguese: String {
    switch self {
    case .retry: "Tente novamente."
    case .wait(nil): "Tente novamente mais tarde."
    case .wait(let wait?): "Tente novamente em \(SpokenWait(wait).inPortuguese)."
    case .correctInput: "Confira os dados informados."
    case .sendOrDiscard: "Tente enviar de novo ou descarte o que não precisar."
    case .signIn: "Entre para continuar."
    case .logOut: "Saia antes da sessão."
    case .unlock: "Desbloqueie o dispositivo."
    case .freeSpace: "Libere espaço."
    case .reopen: "Feche o aplicativo e abra-o novamente."
    case .update: "Atualize o aplicativo."
    case .contactSupport: "Entre em contato com o suporte."
    case .nothing: ""
    }
  }
}

extension SpokenWait {
  fileprivate var inPortuguese: String {
    switch self {
    case .seconds(let count): count == 1 ? "1 segundo" : "\(count) segundos"
    case .minutes(let count): "\(count) minutos"
    case .hours(let count): "\(count) horas"
    }
  }
}
