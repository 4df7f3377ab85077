import java.util.Properties;
import org.omg.CORBA.Any;
import org.omg.CORBA.NVList;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Request;
import org.omg.CORBA.ServerRequest;
import org.omg.CORBA.TCKind;
import org.omg.PortableServer.DynamicImplementation;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

/** An object request broker that sends requests to itself over TCP: receiver, queue and dispatcher, as in JPMT §5. */
public class UseOrb {
    static class Servant extends DynamicImplementation {
        private final ORB orb;

        Servant(ORB orb) {
            this.orb = orb;
        }

        @Override
        public void invoke(ServerRequest request) {
            NVList arguments = orb.create_list(1);
            Any number = orb.create_any();
            number.type(orb.get_primitive_tc(TCKind.tk_long));
            arguments.add_value("n", number, org.omg.CORBA.ARG_IN.value);
            request.arguments(arguments);
            Any result = orb.create_any();
            result.insert_long(number.extract_long() * 3);
            request.set_result(result);
        }

        @Override
        public String[] _all_interfaces(POA poa, byte[] id) {
            return new String[] {"IDL:fulcrum/Ping:1.0"};
        }
    }

    static ORB orb() {
        Properties properties = new Properties();
        properties.put("org.omg.CORBA.ORBClass", "org.jacorb.orb.ORB");
        properties.put("org.omg.CORBA.ORBSingletonClass", "org.jacorb.orb.ORBSingleton");
        properties.put("jacorb.log.default.verbosity", "0");
        properties.put("OAIAddr", "127.0.0.1");
        return ORB.init(new String[0], properties);
    }

    public static void main(String[] arguments) throws Exception {
        ORB server = orb();
        POA root = POAHelper.narrow(server.resolve_initial_references("RootPOA"));
        root.the_POAManager().activate();
        String reference = server.object_to_string(root.servant_to_reference(new Servant(server)));
        ORB client = orb();
        org.omg.CORBA.Object ping = client.string_to_object(reference);
        long sum = 0;
        for (int n = 0; n < 300; n++) {
            Request request = ping._request("ping");
            request.add_in_arg().insert_long(n);
            request.set_return_type(client.get_primitive_tc(TCKind.tk_long));
            request.invoke();
            if (request.env().exception() != null) {
                throw request.env().exception();
            }
            sum += request.return_value().extract_long();
        }
        System.out.println(sum);
        client.shutdown(true);
        server.shutdown(true);
    }
}
