import SessionKit

extension SessionMessage {
  /// What happened, in Spanish.
  var inSpanish: String {
    switch self {
    case .userNameMissing: "Falta el nombre de usuario."
    case .notAnEmail: "El nombre de usuario debe ser una dirección de correo electrónico."
    case .passwordMissing: "Falta la contraseña."
    case .passwordTooShort(let minimum):
      "La contraseña debe tener al menos \(minimum) caracteres."
    case .providerSignInMissing: "No se ha podido iniciar sesión con el otro servicio."
    case .wrongCredentials: "El nombre de usuario o la contraseña no son correctos."
    case .invalidInput: "El servicio no ha aceptado los datos introducidos."
    case .notSignedIn: "No has iniciado sesión."
    case .alreadySignedIn: "Ya hay una sesión iniciada."
    case .otherUsersSession: "La sesión caducada pertenece a otra persona."
    case .signInUnderWay: "Ya hay un inicio de sesión en curso."
    case .sessionExpired: "Tu sesión ha caducado."
    case .endedByService: "El servicio ha terminado tu sesión."
    case .inactive: "Tu sesión ha terminado porque no se ha usado durante mucho tiempo."
    case .storedSignInLost: "Tu inicio de sesión ya no está guardado en este dispositivo."
    case .loggedOut: "Se ha cerrado tu sesión."
    case .changesNotSent(let count):
      "No se ha cerrado la sesión, porque \(count == 1 ? "1 cambio no se ha" : "\(count) cambios no se han") "
        + "enviado."
    case .notProlongable: "Tu sesión no se puede prolongar. Puedes continuar hasta que termine."
    case .userNeeded: "El servicio pide que confirmes quién eres."
    case .signInRefused: "El servicio no ha aceptado tu sesión para esto."
    case .superseded: "Tu sesión ha cambiado entretanto y no se ha hecho nada."
    case .closed: "La sesión está cerrada."
    case .cancelled: "Se ha cancelado."
    case .notAllowed: "No tienes permiso para hacer esto."
    case .accountInactive: "Tu cuenta no está activa."
    case .accountDeleted: "Tu cuenta ha sido eliminada."
    case .accountLocked: "Tu cuenta está bloqueada."
    case .notFound: "No se ha encontrado."
    case .conflict: "Se ha modificado entretanto en otro lugar."
    case .alreadyDeleted: "Ya estaba eliminado."
    case .tooManyRequests: "Ha habido demasiados intentos."
    case .serviceTrouble: "El servicio tiene un problema."
    case .dataTrouble: "El servicio no puede acceder a sus datos en este momento."
    case .strangeAnswer: "El servicio ha respondido de un modo que esta aplicación no entiende."
    case .unreadableAnswer: "No se puede leer la respuesta del servicio."
    case .appNotSetUp: "Esta aplicación no está bien configurada para el servicio."
    case .networkSignIn:
      "Algo en la red ha respondido en lugar del servicio. Es posible que la red te pida "
        + "identificarte: abre una página en el navegador."
    case .gatewayTrouble:
      "El servicio, o algo situado delante de él, ha respondido con un error."
    case .noConnection: "No se puede conectar con el servicio. Comprueba tu conexión."
    case .noAnswer: "El servicio no ha respondido. Es posible que haya hecho lo que pediste."
    case .insecureConnection: "La conexión con el servicio no sería privada."
    case .appLocked: "La app está bloqueada. Tu sesión no se ha cerrado."
    case .deviceLocked:
      "Los datos guardados en este dispositivo aún no se pueden leer. Tu sesión no se ha cerrado."
    case .noAccess:
      "La aplicación no puede leer sus datos en este dispositivo. Tu sesión no se ha cerrado."
    case .dataNotFound:
      "La aplicación no encuentra sus datos en este dispositivo y los busca de nuevo. Tu sesión no se "
        + "ha cerrado."
    case .noSpace: "No queda espacio en este dispositivo."
    case .answerNotStored(let cause):
      "\(cause.inSpanish) La respuesta del servicio contará en cuanto se pueda guardar."
    case .answerDropped(let cause):
      "\(cause.inSpanish) La última respuesta del servicio se ha perdido. Es posible que tengas que "
        + "iniciar sesión de nuevo."
    case .storageBusy: "Otro proceso está usando los datos guardados en este dispositivo."
    case .storageLost: "La aplicación ha perdido el acceso a sus datos en este dispositivo."
    case .storageUnusable: "La aplicación no puede usar sus datos en este dispositivo."
    case .storageDamaged: "Los datos de la aplicación en este dispositivo están dañados."
    case .newerData:
      "Los datos de este dispositivo son de una versión más reciente de la aplicación."
    case .tooLarge: "Los datos que se deben guardar en este dispositivo son demasiado grandes."
    case .notTidied:
      "La aplicación no ha podido ordenar sus datos en este dispositivo. No se ha perdido nada."
    case .historySummedUp: "Las entradas antiguas se han resumido."
    case .othersChanges(let count):
      "\(count == 1 ? "1 cambio de otra persona no se ha enviado" : "\(count) cambios de otra persona no se han enviado") todavía."
    case .changesFull(let count):
      "\(count == 1 ? "1 cambio no se ha enviado" : "\(count) cambios no se han enviado") y no hay "
        + "sitio para otro más."
    case .changeTooLong: "Esto es demasiado largo para guardarlo hasta que se pueda enviar."
    case .changeGivenUp: "Este cambio no se ha podido enviar y ya no se intenta."
    case .changeNotWaiting: "Este cambio ya no está pendiente. Es posible que se haya enviado."
    case .changesBeingSent: "Tus cambios ya se están enviando."
    case .logoutUnderWay: "Se está cerrando la sesión."
    case .serviceNotToldYet: "Se ha cerrado la sesión. Se avisará al servicio más tarde."
    case .notClearedYet:
      "Se ha cerrado la sesión. Los datos de este dispositivo se borrarán la próxima vez que se abra "
        + "la aplicación."
    case .nowLoggedOut: "Se ha cerrado la sesión."
    }
  }
}

extension SessionAdvice {
  /// The advice, in Spanish.
  var inSpanish: String {
    switch self {
    case .retry: "Vuelve a intentarlo."
    case .wait(nil): "Vuelve a intentarlo más tarde."
    case .wait(let wait?):
      "Vuelve a intentarlo dentro de \(SpokenWait(wait).inSpanish)."
    case .correctInput: "Revisa los datos introducidos."
    case .sendOrDiscard: "Intenta enviar de nuevo o descarta lo que no necesites."
    case .signIn: "Inicia sesión para continuar."
    case .logOut: "Cierra antes la sesión."
    case .unlock: "Desbloquea el dispositivo."
    case .unlockApp: "Desbloquea la app."
    case .freeSpace: "Libera espacio."
    case .reopen: "Cierra la aplicación y vuelve a abrirla."
    case .update: "Actualiza la aplicación."
    case .contactSupport: "Ponte en contacto con el servicio de asistencia."
    case .nothing: ""
    }
  }
}

extension SpokenWait {
  fileprivate var inSpanish: String {
    switch self {
    case .seconds(let count): count == 1 ? "1 segundo" : "\(count) segundos"
    case .minutes(let count): "\(count) minutos"
    case .hours(let count): "\(count) horas"
    }
  }
}

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
    case .userNeeded: "O serviço pede que você confirme quem é."
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
    case .appLocked: "O aplicativo está bloqueado. Sua sessão não foi encerrada."
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
    case .unlockApp: "Desbloqueie o aplicativo."
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
